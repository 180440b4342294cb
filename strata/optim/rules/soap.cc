#include "strata/optim/rules/soap.h"

#include "strata/api/numpy/linalg.h"
#include "strata/api/transform/control.h"
#include "strata/optim/registry.h"
#include "strata/optim/rules/axis_products.h"
#include "strata/optim/rules/moments.h"
#include "strata/optim/schedule/learning_rate.h"
#include "strata/optim/transform/decay.h"

namespace strata::optim {

namespace {

using detail::field;

struct State {
  Array count;
  Tree mu, nu, statistics, basis;
  Tree tree() const {
    return detail::state_of(field("count", count), field("mu", mu), field("nu", nu),
                            field("statistics", statistics), field("basis", basis));
  }
};
State state_of_tree(const Tree& s) {
  return {s["count"], s.subtree("mu"), s.subtree("nu"), s.subtree("statistics"),
          s.subtree("basis")};
}

/// A leaf turned into the bases of its axes, or back.
Array turned(const Tree& basis, const tree::Entry& e, const Array& x, std::int64_t longest,
             bool back) {
  Array y = x;
  for (int axis : detail::matrix_axes(x, longest)) {
    const Array& q = basis[detail::axis_place(e, axis)];
    y = detail::along(y, axis, back ? q.T() : q);
  }
  return y;
}
/// Eigenvectors, those of the largest eigenvalues first.
Array eigenvectors(const Array& a) { return numpy::flip(numpy::linalg::eigh(a).eigenvectors, 1); }

/// Matrices and their bases after the gradients of the first step.
Tree first(const Tree& g, State s, const Rate& beta, std::int64_t longest) {
  s.statistics = detail::of_axes(
      g, longest, [&](const tree::Entry&, const Array& x, int axis, const std::string&) {
        return numpy::astype((1.0 - beta) * detail::gram(numpy::astype(x, DType::f32), axis),
                             DType::f32);
      });
  s.basis = s.statistics.map([](const Array& a) { return eigenvectors(a); });
  s.count = safe_increment(s.count);
  return s.tree();
}

/// New bases, and nu with its elements in their order.
std::pair<Tree, Tree> turn_bases(const Tree& statistics, const Tree& basis, const Tree& nu,
                                 std::int64_t longest) {
  Tree next = basis;
  const Tree squares = nu.map([&](const tree::Entry& e, const Array& v) {
    Array sorted = v;
    for (int axis : detail::matrix_axes(v, longest)) {
      const std::string place = detail::axis_place(e, axis);
      const Array product = numpy::matmul(statistics[place], basis[place]);
      const Array values = numpy::sum(basis[place] * product, 0);
      const Array order = numpy::argsort(-values);
      next.set(place, numpy::linalg::qr(numpy::take(product, order, 1)).Q);
      sorted = numpy::take(sorted, order, axis);
    }
    return sorted;
  });
  return {next, squares};
}

}  // namespace

GradientTransformation scale_by_soap(ScaleBySoapOptions o) {
  const char* name = "scale_by_soap";
  if (o.precondition_frequency < 1)
    throw Error(name, "precondition_frequency is a step or more, got {}", o.precondition_frequency);
  const Rate beta = o.shampoo_beta.has_value() ? o.shampoo_beta : o.b2;
  const std::int64_t longest = o.max_precond_dim;
  const auto later = [=](const Tree& g, const State& s) {
    const Tree g_turned = g.map([&](const tree::Entry& e, const Array& x) {
      return turned(s.basis, e, numpy::astype(x, DType::f32), longest, /*back=*/false);
    });
    const Tree mu = trees::update_moment(g, s.mu, o.b1, 1);
    const Tree nu = trees::update_moment(g_turned, s.nu, o.b2, 2);
    const Array factor =
        numpy::sqrt(1.0 - detail::raised(o.b2, s.count)) / (1.0 - detail::raised(o.b1, s.count));
    const Tree out = mu.map([&](const tree::Entry& e, const Array& m) {
      const Array step = turned(s.basis, e, numpy::astype(m, DType::f32), longest, false) /
                         (numpy::sqrt(nu[e.name]) + o.eps);
      const Array back = turned(s.basis, e, step, longest, /*back=*/true);
      return numpy::astype(factor * back, g[e.name].dtype());
    });
    State next{safe_increment(s.count), trees::cast_like(mu, s.mu), trees::cast_like(nu, s.nu),
               detail::of_axes(
                   g, longest,
                   [&](const tree::Entry&, const Array& x, int axis, const std::string& place) {
                     const Array products = detail::gram(numpy::astype(x, DType::f32), axis);
                     return numpy::astype((1.0 - beta) * products + beta * s.statistics[place],
                                          DType::f32);
                   }),
               s.basis};
    std::tie(next.basis, next.nu) = cond(
        numpy::equal(numpy::remainder(s.count, o.precondition_frequency), 0),
        [&](const Tree& a, const Tree& q, const Tree& v) { return turn_bases(a, q, v, longest); },
        [](const Tree&, const Tree& q, const Tree& v) { return std::pair(q, v); }, next.statistics,
        next.basis, next.nu);
    return std::pair(out, next.tree());
  };
  return detail::rule(
      detail::call_text(name, o),
      [=](const Tree& params) {
        detail::refuse_complex(name, params);
        const auto square = [](const tree::Entry&, const Array& x, int axis, const std::string&) {
          return numpy::zeros({x.shape(axis), x.shape(axis)}, DType::f32);
        };
        return State{
            detail::no_count(), trees::zeros_like(params), trees::zeros_like(params, DType::f32),
            detail::of_axes(params, longest, square), detail::of_axes(params, longest, square)}
            .tree();
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        return cond(
            numpy::equal(s["count"], 0),
            [&](const Tree& g, const Tree& old) {
              return std::pair(trees::zeros_like(g), first(g, state_of_tree(old), beta, longest));
            },
            [&](const Tree& g, const Tree& old) { return later(g, state_of_tree(old)); },
            trees::cast_like(u, u), s);
      });
}
GradientTransformation soap(Rate learning_rate, SoapOptions o) {
  return chain(scale_by_soap({.b1 = o.b1,
                              .b2 = o.b2,
                              .shampoo_beta = o.shampoo_beta,
                              .eps = o.eps,
                              .precondition_frequency = o.precondition_frequency,
                              .max_precond_dim = o.max_precond_dim}),
               add_decayed_weights(o.weight_decay, o.mask),
               scale_by_learning_rate(std::move(learning_rate)));
}

namespace detail {
void add_soap(Rules& r) {
  const std::string paper = "Vyas et al. (2024)";
  r.add("scale_by_soap", {}, &scale_by_soap, paper,
        "Adam in the eigenbasis of Shampoo's matrices.");
  r.add("soap", {"learning_rate"}, &soap, paper, "Adam in Shampoo's eigenbasis, with decay.");
}
}  // namespace detail

}  // namespace strata::optim
