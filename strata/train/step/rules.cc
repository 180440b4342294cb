#include "strata/train/step/rules.h"

#include "strata/optim/rule.h"
#include "strata/optim/schedule/learning_rate.h"
#include "strata/optim/transform/decay.h"

namespace strata::train {
namespace {

using tree::Tree;

optim::GradientTransformation scale_by_adam(const AdamWOptions& o) {
  using optim::detail::field;
  const double b1 = o.b1, b2 = o.b2, eps = o.eps, eps_root = o.eps_root;
  return optim::detail::rule(
      fmt::format("train::scale_by_adam(b1={}, b2={}, eps={}{})", b1, b2, eps,
                  eps_root > 0 ? fmt::format(", eps_root={}", eps_root) : ""),
      [](const Tree& params) {
        const Tree zero = optim::trees::zeros_like(params, DType::f32);
        return optim::detail::state_of(field("count", optim::detail::no_count()), field("mu", zero),
                                       field("nu", zero));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const optim::Extra&) {
        const Array count = optim::safe_increment(s["count"]), t = astype(count, DType::f32);
        const Tree mu = optim::trees::map(
            [&](const Array& m, const Array& g) {
              return b1 * m + (1 - b1) * astype(g, DType::f32);
            },
            s.subtree("mu"), u);
        const Tree nu = optim::trees::map(
            [&](const Array& v, const Array& g) {
              const Array w = astype(g, DType::f32);
              return b2 * v + (1 - b2) * (w * w);
            },
            s.subtree("nu"), u);
        const Array first = 1.0 / (1.0 - power(full({}, b1, DType::f32), t)),
                    second = 1.0 / (1.0 - power(full({}, b2, DType::f32), t));
        const Tree updates = optim::trees::map(
            [&](const Array& m, const Array& v) {
              const Array square = v * second;
              return m * first / (sqrt(eps_root > 0 ? square + eps_root : square) + eps);
            },
            mu, nu);
        return std::pair(updates, optim::detail::state_of(field("count", count), field("mu", mu),
                                                          field("nu", nu)));
      });
}

}  // namespace

optim::GradientTransformation adamw(optim::Schedule rate, AdamWOptions o) {
  return optim::chain(scale_by_adam(o), optim::add_decayed_weights(o.weight_decay, o.mask),
                      optim::scale_by_learning_rate(std::move(rate)));
}

optim::GradientTransformation sgd(optim::Schedule rate) {
  using optim::detail::field;
  optim::GradientTransformation descent = optim::detail::rule(
      "train::scale_by_learning_rate()",
      [](const Tree&) { return field("count", optim::detail::no_count()); },
      [rate = std::move(rate)](const Tree& u, const Tree& s, const Tree*, const optim::Extra&) {
        const Array down = -rate(s["count"]);
        return std::pair(
            optim::trees::map([&](const Array& g) { return astype(down * g, g.dtype()); }, u),
            field("count", optim::safe_increment(s["count"])));
      });
  return optim::chain(optim::identity(), std::move(descent));
}

}  // namespace strata::train
