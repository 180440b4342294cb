// Layers of one type, stacked along a leading axis of their variables.
//
//   auto layers = nn::Stack<Block>::make(12, rngs, [](nn::Rngs& r) { return Block(256, r); },
//                                        {.axis_name = "layers", .remat = "nothing"});
//   Array y = layers(x);             // block 11 (... block 1 (block 0 (x))), one loop
//   Block third = layers.layer(2);
//
// Paths are those of one block, "layers/mlp/kernel" in a model with a field `layers`.
#pragma once

#include "strata/nn/module.h"
#include "strata/nn/random/rngs.h"
#include "strata/nn/transform/scan.h"
#include "strata/nn/transform/vmap.h"

namespace strata::nn {

struct StackOptions {
  strata::internal::Named named = strata::internal::Named();
  /// The name of the leading axis in the metadata of variables that name their axes; empty: none,
  /// which counts as not sharded.
  std::string axis_name = {};
  /// What the backward pass keeps of each layer: a policy of strata::remat; none keeps all.
  std::optional<std::string> remat = std::nullopt;
};

namespace detail {
/// Puts a name in front of the axes that variables name, or takes it away.
void add_leading_axis(const std::function<void(tree::Visitor&)>& accept, const std::string& name);
void remove_leading_axis(const std::function<void(tree::Visitor&)>& accept,
                         const std::string& name);
}  // namespace detail

/// n blocks of equal shapes. Block i is made from the streams split n times, of which it gets
/// number i. A call carries x through all of them; state that blocks change, streams too, is
/// stacked again. Source: Flax NNX's split_rngs, vmap of a constructor, and scan.
template <class Block>
struct Stack {
  Block stacked;  // leaves (n, ...)
  std::int64_t length = 0;
  StackOptions options;

  Stack() = default;
  Stack(Block blocks, std::int64_t n, StackOptions how = {})
      : stacked(std::move(blocks)), length(n), options(std::move(how)) {}
  /// f(Rngs&) makes a block. Throws Error for a number below one.
  template <class F>
  static Stack make(std::int64_t n, Rngs& rngs, F f, StackOptions options = {}) {
    if (n < 1) strata::internal::fail("Stack", "needs one layer at least, got {}", n);
    Rngs streams = rngs.split(n);
    Stack out(nn::vmap([&](Rngs& r) { return Block(f(r)); })(streams), n, std::move(options));
    detail::add_leading_axis([&](tree::Visitor& v) { tree::accept(out.stacked, v); },
                             out.options.axis_name);
    return out;
  }

  /// The carry, an array or a tree of arrays, goes through all blocks; `args` are the same for all.
  template <class X, class... Args>
  X operator()(const X& x, const Args&... args) {
    return run(*this, x, args...);
  }
  template <class X, class... Args>
    requires std::is_invocable_v<const Block&, const X&, const Args&...>
  X operator()(const X& x, const Args&... args) const {
    return run(*this, x, args...);
  }

  /// Block i by itself. Throws Error where there is none.
  Block layer(std::int64_t i) const {
    if (i < -length || i >= length)
      strata::internal::fail("Stack", "there is no layer {} of {}", i, length);
    Block out = stacked;
    tree::for_each(out, [&](auto& leaf) { leaf = Array(leaf)[i]; });
    detail::remove_leading_axis([&](tree::Visitor& v) { tree::accept(out, v); }, options.axis_name);
    return out;
  }

  void accept(tree::Visitor& visitor) {
    tree::accept(stacked, visitor);
    visitor.constant(static_text());
  }
  std::string static_text() const {
    return fmt::format("{} {} {}", length, options.axis_name, options.remat.value_or("all"));
  }

 private:
  template <class Self, class X, class... Args>
  static X run(Self& self, const X& x, const Args&... args) {
    const ModuleScope scope(self.stacked, "Stack");
    ScanOptions scan{.in_axes = {0, Carry}, .out_axes = {Carry}, .length = self.length};
    scan.in_axes.insert(scan.in_axes.end(), sizeof...(Args), ScanAxis(std::nullopt));
    scan.remat = self.options.remat;
    const auto step = [&](auto& block, const X& carry, const Args&... each) -> X {
      // The body sees variables without the leading axis.
      detail::remove_leading_axis([&](tree::Visitor& v) { tree::accept_const(block, v); },
                                  self.options.axis_name);
      return block(carry, each...);
    };
    return nn::scan(step, std::move(scan))(self.stacked, x, args...);
  }
};

}  // namespace strata::nn

/// The children of a block; what belongs to the stack joins the structure's text.
template <class Block>
struct strata::tree::Node<strata::nn::Stack<Block>> {
  static constexpr const char* open = "{";
  static constexpr const char* close = "}";
  template <class U, class F>
  static void visit(U& t, F&& f) {
    Node<Block>::visit(t.stacked, f);
  }
  static void append_to(std::string& text, const strata::nn::Stack<Block>& t) {
    text += "stack of " + t.static_text() + ": ";
  }
};
