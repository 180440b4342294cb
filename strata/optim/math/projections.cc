#include "strata/optim/math/projections.h"

#include "strata/api/nn.h"
#include "strata/api/transform/control.h"
#include "strata/api/transform/custom.h"

namespace strata::optim {

Tree one_tree(Array x) { return Tree({tree::Entry(tree::KeyPath())}, {std::move(x)}); }

namespace projections {

namespace {

/// The point of the simplex of sum 1 that is nearest to a vector.
Array onto_unit_simplex(const Array& values) {
  const auto value = [](const Array& x) {
    const Array u = numpy::flip(numpy::sort(x)), sums = numpy::cumsum(u);
    const Array place = numpy::astype(numpy::arange(x.size()) + 1, x.dtype());
    const Array inside = 1.0 / place + (u - sums / place) > 0.0;
    const Array last = numpy::count_nonzero(inside);
    const Array count = numpy::astype(last, x.dtype());
    return nn::relu(1.0 / count + (x - numpy::take(sums, last - 1) / count));
  };
  return custom_jvp(value,
                    [=](const std::tuple<Array>& primals, const std::tuple<Array>& tangents) {
                      const Array p = value(std::get<0>(primals)), t = std::get<0>(tangents);
                      const Array support = numpy::astype(p > 0.0, p.dtype());
                      const Array count = numpy::sum(support);
                      return std::pair(p, support * t - numpy::sum(support * t) / count * support);
                    })(values);
}
Tree like_vector(const Array& flat, const Tree& like) {
  std::vector<Array> values;
  std::int64_t at = 0;
  for (const Array& x : like.values()) {
    values.push_back(numpy::astype(
        numpy::reshape(flat[slice(at, at + x.size())], x.shape().sizes()), x.dtype()));
    at += x.size();
  }
  return like.with_values(std::move(values));
}
Rate along(const Tree& x, const Tree& a, const Rate& b) {
  return (b - trees::vdot(x, a)) / trees::vdot(a, a);
}

}  // namespace

Tree projection_non_negative(const Tree& x) {
  return trees::map([](const Array& v) { return nn::relu(v); }, x);
}
Tree projection_box(const Tree& x, const Tree& lower, const Tree& upper) {
  return trees::map(
      [](const Array& v, const Array& low, const Array& high) { return numpy::clip(v, low, high); },
      x, lower, upper);
}
Tree projection_box(const Tree& x, const Rate& lower, const Rate& upper) {
  return trees::clip(x, lower, upper);
}
Tree projection_hypercube(const Tree& x, const Rate& scale) {
  return projection_box(x, 0.0, scale);
}
Tree projection_simplex(const Tree& x, const Rate& scale) {
  std::vector<Array> parts;
  for (const Array& v : x.values()) parts.push_back(numpy::ravel(v));
  const Array flat = numpy::concatenate(parts);
  return like_vector(scale * onto_unit_simplex(flat / scale), x);
}
Tree projection_l1_sphere(const Tree& x, const Rate& scale) {
  const Tree sizes = trees::map([](const Array& v) { return numpy::abs(v); }, x);
  const Tree signs = trees::map([](const Array& v) { return numpy::sign(v); }, x);
  return trees::mul(signs, projection_simplex(sizes, scale));
}
Tree projection_l1_ball(const Tree& x, const Rate& scale) {
  const Array inside = trees::norm(x, false, trees::Order::one) <= scale.array();
  return cond(
      inside, [](const Tree& t) { return trees::cast_like(t, t); },
      [&](const Tree& t) { return trees::cast_like(projection_l1_sphere(t, scale), t); }, x);
}
Tree projection_l2_sphere(const Tree& x, const Rate& scale) {
  return trees::scale(scale / trees::norm(x), x);
}
Tree projection_l2_ball(const Tree& x, const Rate& scale) {
  const Array square = numpy::maximum(trees::norm(x, true), (scale * scale).array());
  return trees::scale(scale / numpy::sqrt(square), x);
}
Tree projection_linf_ball(const Tree& x, const Rate& scale) {
  return projection_box(x, -scale, scale);
}
Tree projection_vector(const Tree& x, const Tree& a) {
  return trees::scale(trees::vdot(x, a) / trees::vdot(a, a), a);
}
Tree projection_hyperplane(const Tree& x, const Tree& a, const Rate& b) {
  return trees::add_scale(x, along(x, a, b), a);
}
Tree projection_halfspace(const Tree& x, const Tree& a, const Rate& b) {
  return trees::add_scale(x, numpy::minimum(along(x, a, b).array(), 0), a);
}

}  // namespace projections
}  // namespace strata::optim
