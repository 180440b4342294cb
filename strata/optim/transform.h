// Gradient transformations and their composition.
//
//   auto optimizer = optim::adamw(3e-4);
//   auto state = optimizer.init(params);
//   auto [updates, next] = optimizer.update(grads, state, params);
//   params = optim::apply_updates(params, updates);
//
// A transformation has a tree of parameters P: `State<P>`, `init(params)`, and `update(updates, state, params)` that
// returns the new updates and the new state. `chain` runs several, one after the other. All of it is traced: step
// counts are i32 arrays, so one compiled step serves every step. Source of the design: Optax.
#pragma once

#include <tuple>
#include <utility>

#include "strata/api/numpy.h"
#include "strata/tree/tree.h"

namespace strata::optim {

/// params + updates.
template <class P>
P apply_updates(const P& params, const P& updates) {
  return tree::map([](const Array& p, const Array& u) { return p + u; }, params, updates);
}

/// sqrt of the sum of squares of all leaves, f32.
template <class P>
Array global_norm(const P& updates) {
  Array total = zeros({});
  tree::for_each(updates, [&](const Array& u) {
    Array wide = astype(u, DType::f32);
    total = total + sum(wide * wide);
  });
  return sqrt(total);
}

struct NoState {
  STRATA_FIELDS()
};

/// Several transformations in order.
template <class... Parts>
struct Chain {
  std::tuple<Parts...> parts;
  template <class P>
  using State = std::tuple<typename Parts::template State<P>...>;

  template <class P>
  State<P> init(const P& params) const {
    return std::apply([&](const Parts&... part) { return State<P>(part.init(params)...); }, parts);
  }
  template <class P>
  std::pair<P, State<P>> update(P updates, const State<P>& state, const P& params) const {
    return run(std::move(updates), state, params, std::index_sequence_for<Parts...>());
  }

 private:
  template <class P, std::size_t... I>
  std::pair<P, State<P>> run(P updates, const State<P>& state, const P& params, std::index_sequence<I...>) const {
    State<P> next;
    auto one = [&](const auto& part, const auto& old, auto& into) {
      auto [u, s] = part.update(std::move(updates), old, params);
      updates = std::move(u);
      into = std::move(s);
    };
    (one(std::get<I>(parts), std::get<I>(state), std::get<I>(next)), ...);
    return {std::move(updates), std::move(next)};
  }
};
template <class... Parts>
Chain<Parts...> chain(Parts... parts) {
  return {std::tuple(std::move(parts)...)};
}

}  // namespace strata::optim
