// Gradient transformations chosen at run time, over tree::Tree.
//
//   optim::GradientTransformation tx =
//       optim::chain({optim::clip_by_global_norm(1.0), optim::adamw(1e-3)});
//   tree::Tree state = tx.init(params);
//   auto [updates, next] = tx.update(grads, state, params);
//   params = optim::apply_updates(params, updates);
//
// Parameters are a tree::Tree or any struct of arrays; the state is a tree::Tree whose paths are
// upstream's: `0/mu/layers/0/kernel` of a chain whose first member is Adam. A transformation is a
// value: copies share what it is made of. All of it is traced; counts of steps are i32 arrays, so
// that one compiled step serves every step. A leaf that a mask leaves out has no path in the trees
// that a masked transformation sees. Source: Optax.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "strata/api/numpy.h"
#include "strata/api/tree/tree.h"

namespace strata::optim {

using tree::Tree;

/// What some rules take beside gradients: the loss, its gradient, and functions of parameters.
struct Extra {
  std::optional<Array> value = std::nullopt;
  std::optional<Tree> grad = std::nullopt;
  std::function<Array(const Tree&)> value_fn = {};
  std::function<Array(const Tree&)> obj_fn = {};
  std::function<Tree(const Tree&, const Array& index)> grad_fn = {};
  /// Further arguments of a user's own rule, by name.
  Tree more = {};
};

/// What a rule needs of `update`; `chain` and errors read it.
struct Needs {
  bool params = false, value = false, grad = false, value_fn = false, obj_fn = false,
       grad_fn = false;
  /// Not needed, but read where they are given: Extra's `more`, and everything.
  bool more = false, any = false;
};
/// What either needs.
Needs merged(const Needs& a, const Needs& b);
/// The extras that who needs this reads.
Extra taken(const Extra& given, const Needs& by);
/// The names of extras that are given and not read: "value, grad_fn"; empty where there are none.
std::string not_taken(const Extra& given, const Needs& by);

/// A transformation: what `init` and `update` do.
class Rule {
 public:
  virtual ~Rule() = default;
  /// "scale_by_adam(b1=0.9, b2=0.999)", as messages and structures have it.
  virtual std::string text() const = 0;
  /// What `update` reads beside updates; nothing unless overridden. Members of a chain see no other
  /// extras.
  virtual Needs needs() const { return {}; }
  /// The first state for these parameters.
  virtual Tree init(const Tree& params) const = 0;
  /// New updates and the new state. `params` is null where the caller gave none.
  virtual std::pair<Tree, Tree> update(const Tree& updates, const Tree& state, const Tree* params,
                                       const Extra& extra) const = 0;
};

/// A rule that turns gradients into updates, as a value; see above.
class GradientTransformation {
 public:
  /// Updates as they are.
  GradientTransformation();
  explicit GradientTransformation(std::shared_ptr<const Rule> rule);
  /// From functions, where a rule is a user's own and small.
  GradientTransformation(
      std::string text, std::function<Tree(const Tree& params)> init,
      std::function<std::pair<Tree, Tree>(const Tree&, const Tree&, const Tree*)> update);

  /// The first state for these parameters.
  Tree init(const Tree& params) const { return rule_->init(params); }
  /// Throws Error where the rule needs parameters or extras that are not given.
  std::pair<Tree, Tree> update(const Tree& updates, const Tree& state, const Tree* params = nullptr,
                               const Extra& extra = {}) const;
  std::pair<Tree, Tree> update(const Tree& updates, const Tree& state, const Tree& params,
                               const Extra& extra = {}) const {
    return update(updates, state, &params, extra);
  }

  /// The same for a struct of arrays: updates come back as one.
  template <tree::TreeLike P>
    requires(!std::same_as<P, Tree>)
  Tree init(const P& params) const {
    return init(tree::of(params));
  }
  template <tree::TreeLike P>
    requires(!std::same_as<P, Tree>)
  std::pair<P, Tree> update(const P& updates, const Tree& state, const P& params,
                            const Extra& extra = {}) const {
    auto [u, next] = update(tree::of(updates), state, tree::of(params), extra);
    return {tree::as(updates, u), std::move(next)};
  }

  /// What it does.
  const Rule& rule() const { return *rule_; }
  /// "scale_by_adam(b1=0.9, b2=0.999)", as messages have it.
  std::string text() const { return rule_->text(); }
  /// Part of the structure of whoever holds one: its text, and which object it is, since functions
  /// in it have no text.
  std::string static_text() const;

 private:
  std::shared_ptr<const Rule> rule_;
  std::uint64_t number_;
};

/// params + updates, in the dtypes of params. Leaves that `updates` lacks stay as they are.
Tree apply_updates(const Tree& params, const Tree& updates);
template <tree::TreeLike P>
  requires(!std::same_as<P, Tree>)
P apply_updates(const P& params, const P& updates) {
  return tree::as(params, apply_updates(tree::of(params), tree::of(updates)));
}

/// Each is given the updates of the one before it, and of the extras those that it needs; the state
/// of member i stands below "i". `update` throws Error for extras that no member needs
/// (`with_extra_args_support` around the chain ignores them).
GradientTransformation chain(std::vector<GradientTransformation> parts);
/// `chain(clip_by_global_norm(1.0), adamw(1e-3))`.
template <std::same_as<GradientTransformation>... Parts>
GradientTransformation chain(Parts... parts) {
  return chain(std::vector<GradientTransformation>{std::move(parts)...});
}
/// The same with a name for each, which stands for its number. Throws Error for a name twice.
GradientTransformation named_chain(
    std::vector<std::pair<std::string, GradientTransformation>> parts);
/// Updates as they are, without a state.
GradientTransformation identity();
/// The transformation where callers give extras that it may not need: those are ignored.
GradientTransformation with_extra_args_support(GradientTransformation tx);
/// Zeros in place of all updates, without a state.
GradientTransformation set_to_zero();
/// f(updates, params) without a state.
GradientTransformation stateless(std::string text,
                                 std::function<Tree(const Tree& updates, const Tree* params)> f,
                                 bool needs_params = false);

}  // namespace strata::optim

template <>
inline constexpr bool strata::tree::is_static<strata::optim::GradientTransformation> = true;
