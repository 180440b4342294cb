// A layer of any type, for models whose layers are known at run time only.
//
//   nn::List layers;
//   for (int width : widths) layers.push_back(nn::Linear(in, width, rngs));
//   layers.push_back([](const Array& x) { return nn::relu(x); });     // any function of arrays
//   Array y = layers[0](x);
//   layers[0].as<nn::Linear>()->kernel.shape();
//
// An AnyLayer is a value: copies have weights of their own. It is a tree, with the paths that the
// layer has itself.
#pragma once

#include <map>
#include <memory>
#include <typeinfo>

#include "strata/nn/random/rngs.h"

namespace strata::nn {

namespace detail {

/// A number that no other function has.
std::uint64_t next_function();
/// A function that is no tree: static data. It is told from others by its type where it holds
/// nothing, a pointer by its address, and else by a number that its copies share.
template <class F>
struct Applied {
  F f;
  std::uint64_t number = std::is_empty_v<F> || std::is_pointer_v<F> ? 0 : next_function();
  std::string static_text() const {
    if constexpr (std::is_pointer_v<F>)
      return fmt::format("function {:x}", reinterpret_cast<std::uintptr_t>(f));
    else
      return fmt::format("{} {}", typeid(F).name(), number);
  }
  template <class... Args>
    requires std::is_invocable_v<const F&, Args...>
  auto operator()(Args&&... args) const {
    return f(std::forward<Args>(args)...);
  }
};
/// What a layer is kept as: itself where it is a tree, else as a function.
template <class F>
using AsLayer =
    std::conditional_t<tree::TreeLike<std::decay_t<F>>, std::decay_t<F>, Applied<std::decay_t<F>>>;
template <class F>
AsLayer<F> as_layer(F&& f) {
  if constexpr (tree::TreeLike<std::decay_t<F>>)
    return std::forward<F>(f);
  else
    return AsLayer<F>{std::forward<F>(f)};
}

template <std::size_t>
using ArrayArgument = const Array&;
template <class L, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return std::is_invocable_v<L&, ArrayArgument<I>...>;
}
template <class L, std::size_t... I>
constexpr bool takes_streams(std::index_sequence<I...>) {
  return std::is_invocable_v<L&, ArrayArgument<I>..., Rngs&>;
}
/// The number of arrays of the longest call that is tried.
inline constexpr std::size_t kMostArguments = 4;

/// Whether a layer can be called at all.
template <class L, std::size_t... N>
constexpr bool takes_some(std::index_sequence<N...>) {
  return ((takes<L>(std::make_index_sequence<N>()) ||
           takes_streams<L>(std::make_index_sequence<N>())) ||
          ...);
}

/// Calls a layer on so many arrays, with streams where it takes some; false where it takes not so
/// many.
template <class L, std::size_t N>
bool call_with(L& layer, std::span<const Array> inputs, Rngs* rngs, std::vector<Array>& out) {
  if (inputs.size() != N) return false;
  constexpr auto indices = std::make_index_sequence<N>();
  const auto call = [&]<std::size_t... I>(std::index_sequence<I...>) {
    if constexpr (takes_streams<L>(indices)) {
      if (rngs || !takes<L>(indices)) {
        if (!rngs) strata::internal::fail("AnyLayer", "the layer takes streams of random numbers");
        out = tree::leaves<Array>(layer(inputs[I]..., *rngs));
        return true;
      }
    }
    if constexpr (takes<L>(indices)) {
      out = tree::leaves<Array>(layer(inputs[I]...));
      return true;
    }
    return false;
  };
  return call(indices);
}
template <class L>
bool call_layer(L& layer, std::span<const Array> inputs, Rngs* rngs, std::vector<Array>& out) {
  return [&]<std::size_t... N>(std::index_sequence<N...>) {
    return (call_with<L, N>(layer, inputs, rngs, out) || ...);
  }(std::make_index_sequence<kMostArguments + 1>());
}

/// A layer behind one interface.
class LayerHolder {
 public:
  virtual ~LayerHolder() = default;
  virtual std::unique_ptr<LayerHolder> copy() const = 0;
  virtual bool call(std::span<const Array> inputs, Rngs* rngs, std::vector<Array>& out) = 0;
  /// The same of one that the call does not change; nothing where it may change it.
  virtual std::optional<bool> call_const(std::span<const Array> inputs, Rngs* rngs,
                                         std::vector<Array>& out) const = 0;
  virtual void accept(tree::Visitor& visitor) = 0;
  virtual void append_structure(std::string& text) const = 0;
  virtual const std::type_info& type() const = 0;
  virtual void* layer() = 0;
};
template <class L>
class LayerOf : public LayerHolder {
 public:
  explicit LayerOf(L layer) : layer_(std::move(layer)) {}
  std::unique_ptr<LayerHolder> copy() const override { return std::make_unique<LayerOf>(layer_); }
  bool call(std::span<const Array> inputs, Rngs* rngs, std::vector<Array>& out) override {
    return call_layer(layer_, inputs, rngs, out);
  }
  std::optional<bool> call_const(std::span<const Array> inputs, Rngs* rngs,
                                 std::vector<Array>& out) const override {
    if (call_layer(layer_, inputs, rngs, out)) return true;
    if constexpr (takes_some<L>(std::make_index_sequence<kMostArguments + 1>()) &&
                  !takes_some<const L>(std::make_index_sequence<kMostArguments + 1>()))
      return {};
    return false;
  }
  void accept(tree::Visitor& visitor) override { tree::accept(layer_, visitor); }
  void append_structure(std::string& text) const override {
    text += tree::structure(layer_).text();
  }
  const std::type_info& type() const override { return typeid(L); }
  void* layer() override { return &layer_; }

 private:
  L layer_;
};

}  // namespace detail

/// Any layer or function of up to four arrays. An empty one answers its one argument.
class AnyLayer {
 public:
  AnyLayer() = default;
  template <class L>
    requires(!std::same_as<std::decay_t<L>, AnyLayer>)
  AnyLayer(L&& layer)  // NOLINT: implicit by intent
      : holder_(std::make_unique<detail::LayerOf<detail::AsLayer<L>>>(
            detail::as_layer(std::forward<L>(layer)))) {}
  AnyLayer(const AnyLayer& other) : holder_(other.holder_ ? other.holder_->copy() : nullptr) {}
  AnyLayer(AnyLayer&&) noexcept = default;
  AnyLayer& operator=(AnyLayer other) noexcept {
    holder_ = std::move(other.holder_);
    return *this;
  }

  /// The leaves of the layer's result. Throws Error where it does not take so many arrays.
  std::vector<Array> call(std::span<const Array> inputs, Rngs* rngs = nullptr);
  /// Throws Error also for a layer that a call may change.
  std::vector<Array> call(std::span<const Array> inputs, Rngs* rngs = nullptr) const;
  /// Of a layer with one result. Throws Error where there are others.
  template <class... Arrays>
    requires(sizeof...(Arrays) > 0 && (std::convertible_to<const Arrays&, Array> && ...))
  Array operator()(const Arrays&... inputs) {
    const Array all[] = {Array(inputs)...};
    return one(call(all));
  }
  template <class... Arrays>
    requires(sizeof...(Arrays) > 0 && (std::convertible_to<const Arrays&, Array> && ...))
  Array operator()(const Arrays&... inputs) const {
    const Array all[] = {Array(inputs)...};
    return one(call(all));
  }
  Array operator()(const Array& x, Rngs& rngs) { return one(call({&x, 1}, &rngs)); }

  /// Whether there is a layer.
  bool has_value() const { return holder_ != nullptr; }
  /// The layer itself where it is an L, else null.
  template <class L>
  L* as() {
    return holder_ && holder_->type() == typeid(L) ? static_cast<L*>(holder_->layer()) : nullptr;
  }
  template <class L>
  const L* as() const {
    return const_cast<AnyLayer*>(this)->as<L>();
  }

  void accept(tree::Visitor& visitor) {
    if (holder_) holder_->accept(visitor);
  }
  void append_structure(std::string& text) const {
    if (holder_) holder_->append_structure(text);
  }

 private:
  static Array one(std::vector<Array> results);
  std::unique_ptr<detail::LayerHolder> holder_;
};

/// Layers by number; a std::vector of one type of layer does as well.
using List = std::vector<AnyLayer>;
/// Layers by name; a std::map of one type of layer does as well.
using Dict = std::map<std::string, AnyLayer>;

namespace detail {
/// The leaves of an AnyLayer with their paths.
std::vector<std::pair<std::string, Array*>> leaves_of(AnyLayer& layer);
}  // namespace detail

}  // namespace strata::nn

template <class F>
inline constexpr bool strata::tree::is_static<strata::nn::detail::Applied<F>> = true;

/// The leaves of the layer within.
template <>
struct strata::tree::Node<strata::nn::AnyLayer> {
  static constexpr const char* open = "<";
  static constexpr const char* close = ">";
  template <class U, class F>
  static void visit(U& t, F&& f) {
    auto& layer = const_cast<strata::nn::AnyLayer&>(t);
    for (auto& [path, leaf] : strata::nn::detail::leaves_of(layer)) {
      const Step step = Step::path(path);
      if constexpr (std::is_const_v<U>)
        f(step, std::as_const(*leaf));
      else
        f(step, *leaf);
    }
  }
  static void append_to(std::string& text, const strata::nn::AnyLayer& t) {
    t.append_structure(text);
    text += ' ';
  }
};
