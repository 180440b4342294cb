// Gradient transformations and their composition, under Optax's names.
//
//   auto optimizer = optim::typed::chain(optim::typed::clip_by_global_norm(1.0),
//   optim::scale_by_adam(), optim::typed::scale_by_learning_rate(3e-4)); auto state =
//   optimizer.init(params); auto [updates, next] = optimizer.update(grads, state, params); params =
//   optim::typed::apply_updates(params, updates);
//
// A transformation has, for a tree of parameters P: `State<P>`, a tree; `init(params)`; and
// `update(updates, state, params)`, which returns the new updates and the new state. Small
// functions make them (`clip_by_global_norm(1.0)`); what they make is a plain struct that says how
// it is set. All of it is traced: counts of steps are i32 arrays, so one compiled step serves every
// step. Source of the design: Optax.
#pragma once

#include <optional>
#include <tuple>
#include <utility>

#include "strata/api/numpy.h"
#include "strata/tree/tree.h"

namespace strata::optim::typed {

/// params + updates, in the dtypes of params.
template <class P>
P apply_updates(const P& params, const P& updates) {
  return tree::map([](const Array& p, const Array& u) { return astype(p + u, p.dtype()); }, params,
                   updates);
}

/// The root of the sum of squares of all leaves, f32.
template <class P>
Array global_norm(const P& updates) {
  Array total = zeros({});
  tree::for_each(updates, [&](const Array& u) {
    Array wide = astype(u, DType::f32);
    total = total + sum(wide * wide);
  });
  return sqrt(total);
}

/// The state of a transformation that remembers nothing.
struct NoState {
  STRATA_FIELDS()
};

/// Updates as they are.
struct Identity {
  /// What the transformation remembers for parameters P.
  template <class P>
  using State = NoState;
  /// The state before the first update, for these parameters.
  template <class P>
  NoState init(const P&) const {
    return {};
  }
  /// The updates that become of these, and the next state.
  template <class P>
  std::pair<P, NoState> update(P updates, const NoState&, const P&) const {
    return {std::move(updates), {}};
  }
};
/// The transformation that changes nothing.
inline Identity identity() { return {}; }

/// Several transformations in order: each is given the updates of the one before it.
template <class... Parts>
struct Chain {
  std::tuple<Parts...> parts;
  /// What the transformation remembers for parameters P.
  template <class P>
  using State = std::tuple<typename Parts::template State<P>...>;

  /// The state before the first update, for these parameters.
  template <class P>
  State<P> init(const P& params) const {
    return std::apply([&](const Parts&... part) { return State<P>(part.init(params)...); }, parts);
  }
  /// The updates that become of these, and the next state.
  template <class P>
  std::pair<P, State<P>> update(P updates, const State<P>& state, const P& params) const {
    return run(std::move(updates), state, params, std::index_sequence_for<Parts...>());
  }

 private:
  template <class P, std::size_t... I>
  std::pair<P, State<P>> run(P updates, const State<P>& state, const P& params,
                             std::index_sequence<I...>) const {
    State<P> next;
    [[maybe_unused]] auto one = [&](const auto& part, const auto& old, auto& into) {
      auto [u, s] = part.update(std::move(updates), old, params);
      updates = std::move(u);
      into = std::move(s);
    };
    (one(std::get<I>(parts), std::get<I>(state), std::get<I>(next)), ...);
    return {std::move(updates), std::move(next)};
  }
};
/// Several transformations in order as one: `chain(clip_by_global_norm(1.0), scale_by_adam(),
/// scale(-1e-3))`.
template <class... Parts>
Chain<Parts...> chain(Parts... parts) {
  return {std::tuple(std::move(parts)...)};
}

/// A transformation, or none, decided when the optimizer is made.
template <class Part>
struct Maybe {
  std::optional<Part> part;
  /// What the transformation remembers for parameters P.
  template <class P>
  using State = std::optional<typename Part::template State<P>>;

  /// The state before the first update, for these parameters.
  template <class P>
  State<P> init(const P& params) const {
    if (!part) return {};
    return part->init(params);
  }
  /// The updates that become of these, and the next state.
  template <class P>
  std::pair<P, State<P>> update(P updates, const State<P>& state, const P& params) const {
    if (!part) return {std::move(updates), {}};
    auto [u, s] = part->update(std::move(updates), *state, params);
    return {std::move(u), std::move(s)};
  }
};
/// `part` where `condition` holds; otherwise updates pass as they are and no state is kept.
template <class Part>
Maybe<Part> when(bool condition, Part part) {
  if (!condition) return {};
  return {std::move(part)};
}

}  // namespace strata::optim::typed
