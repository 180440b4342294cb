#include "strata/optim/rules/shampoo.h"

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

/// (a + eps I)^(-1/p) of a symmetric matrix without negative eigenvalues but for rounding.
Array inverse_root(const Array& a, double eps, std::size_t p) {
  const auto [values, vectors] = numpy::linalg::eigh(a);
  const Array powers =
      numpy::power(numpy::maximum(values, 0.0) + eps, -1.0 / static_cast<double>(p));
  return numpy::matmul(vectors * powers, vectors.T());
}
Array norm(const Array& x) { return numpy::sqrt(numpy::sum(x * x)); }

struct State {
  Array count;
  Tree mu, nu, statistics, roots;
  Tree tree() const {
    return detail::state_of(field("count", count), field("mu", mu), field("nu", nu),
                            field("statistics", statistics), field("roots", roots));
  }
};

/// What the grafted rule alone would do.
Tree grafted(const ScaleByShampooOptions& o, const Tree& m, const Tree& nu, const Array& count) {
  if (o.grafting == "adam")
    return detail::over_root(m, trees::bias_correction(nu, o.grafting_b2, count), o.grafting_eps);
  if (o.grafting == "adagrad") return detail::over_root(m, nu, o.grafting_eps);
  return m;
}
Tree second_moment(const ScaleByShampooOptions& o, const Tree& u, const Tree& old) {
  if (o.grafting == "adam") return trees::update_moment(u, old, o.grafting_b2, 2);
  return trees::map([](const Array& g, const Array& v) { return v + g * g; }, u, old);
}

}  // namespace

GradientTransformation scale_by_shampoo(ScaleByShampooOptions o) {
  const char* name = "scale_by_shampoo";
  if (o.grafting != "adam" && o.grafting != "adagrad" && o.grafting != "sgd" &&
      o.grafting != "none")
    throw Error(name, "grafting is adam, adagrad, sgd or none, got {}", o.grafting);
  if (o.precondition_frequency < 1)
    throw Error(name, "precondition_frequency is a step or more, got {}", o.precondition_frequency);
  const bool squares = o.grafting == "adam" || o.grafting == "adagrad";
  const std::int64_t longest = o.max_preconditioner_dim;
  return detail::rule(
      detail::call_text(name, o),
      [=](const Tree& params) {
        detail::refuse_complex(name, params);
        const auto matrix = [](auto make) {
          return [make](const tree::Entry&, const Array& x, int axis, const std::string&) {
            return make(x.shape(axis));
          };
        };
        return State{detail::no_count(), trees::zeros_like(params),
                     squares ? trees::zeros_like(params) : Tree(),
                     detail::of_axes(params, longest, matrix([](std::int64_t n) {
                                       return numpy::zeros({n, n}, DType::f32);
                                     })),
                     detail::of_axes(params, longest, matrix([](std::int64_t n) {
                                       return numpy::eye(n, n, 0, DType::f32);
                                     }))}
            .tree();
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        State next{safe_increment(s["count"]), trees::update_moment(u, s.subtree("mu"), o.b1, 1),
                   squares ? second_moment(o, u, s.subtree("nu")) : Tree(), Tree(), Tree()};
        const Tree old = s.subtree("statistics"), old_roots = s.subtree("roots");
        next.statistics = detail::of_axes(
            u, longest,
            [&](const tree::Entry&, const Array& g, int axis, const std::string& place) {
              const Array products = detail::gram(numpy::astype(g, DType::f32), axis);
              const Array& sum = old[place];
              return o.b2.is(1.0) ? sum + products
                                  : numpy::astype((1.0 - o.b2) * products + o.b2 * sum, DType::f32);
            });
        const Array anew = numpy::equal(numpy::remainder(s["count"], o.precondition_frequency), 0);
        next.roots = detail::of_axes(
            u, longest, [&](const tree::Entry&, const Array& g, int, const std::string& place) {
              const std::size_t p = 2 * detail::matrix_axes(g, longest).size();
              return cond(
                  anew, [&](const Array& a, const Array&) { return inverse_root(a, o.eps, p); },
                  [](const Array&, const Array& kept) { return kept; }, next.statistics[place],
                  old_roots[place]);
            });
        const Tree m = trees::bias_correction(next.mu, o.b1, next.count);
        const Tree graft = grafted(o, m, next.nu, next.count);
        const Array begun = next.count > o.start_preconditioning_step;
        const Tree out = m.map([&](const tree::Entry& e, const Array& x) {
          const Array& plain = graft[e.name];
          const std::vector<int> axes = detail::matrix_axes(x, longest);
          if (axes.empty()) return plain;
          Array y = numpy::astype(x, DType::f32);
          for (int axis : axes) y = detail::along(y, axis, next.roots[detail::axis_place(e, axis)]);
          if (o.grafting != "none") {
            const Array length = norm(y);
            const Array factor = norm(plain) / numpy::where(length > 0.0, length, 1.0);
            y = y * factor;
          }
          return numpy::where(begun, numpy::astype(y, x.dtype()), plain);
        });
        next.mu = trees::cast_like(next.mu, s.subtree("mu"));
        if (squares) next.nu = trees::cast_like(next.nu, s.subtree("nu"));
        return std::pair(out, next.tree());
      });
}
GradientTransformation shampoo(Rate learning_rate, ShampooOptions o) {
  return chain(scale_by_shampoo({.b1 = o.b1,
                                 .b2 = o.b2,
                                 .eps = o.eps,
                                 .precondition_frequency = o.precondition_frequency,
                                 .start_preconditioning_step = o.start_preconditioning_step,
                                 .max_preconditioner_dim = o.max_preconditioner_dim,
                                 .grafting = o.grafting,
                                 .grafting_b2 = o.grafting_b2,
                                 .grafting_eps = o.grafting_eps}),
               add_decayed_weights(o.weight_decay, o.mask),
               scale_by_learning_rate(std::move(learning_rate)));
}

namespace detail {
void add_shampoo(Rules& r) {
  const std::string paper = "Gupta et al. (2018)";
  r.add("scale_by_shampoo", {}, &scale_by_shampoo, paper,
        "Gradients by inverse roots of a matrix for each axis.");
  r.add("shampoo", {"learning_rate"}, &shampoo, paper, "Shampoo with a grafted rule's norm.");
}
}  // namespace detail

}  // namespace strata::optim
