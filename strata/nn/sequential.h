// Layers one behind the other.
//
//   nn::Sequential net(nn::Linear(4, 8, rngs), [](const Array& x) { return nn::relu(x); },
//                      nn::Dropout(0.5, rngs), nn::Linear(8, 2, rngs));
//   Array y = net(x);                         // paths: layers/0/kernel, layers/3/kernel, ...
//
//   nn::Layers many;                          // known at run time only
//   many.layers.push_back(nn::Linear(4, 8, rngs));
//   Array z = many(x);
#pragma once

#include "strata/nn/any_layer.h"
#include "strata/nn/module.h"

namespace strata::nn {

namespace detail {
template <class T>
inline constexpr bool is_tuple = false;
template <class... Ts>
inline constexpr bool is_tuple<std::tuple<Ts...>> = true;
template <class A, class B>
inline constexpr bool is_tuple<std::pair<A, B>> = true;

/// A layer's result for these arguments; streams go to the layers that take some.
template <class L, class... Args>
decltype(auto) apply_layer(L& layer, Rngs* rngs, Args&&... args) {
  if constexpr (std::is_invocable_v<L&, Args..., Rngs&>) {
    if constexpr (std::is_invocable_v<L&, Args...>)
      if (!rngs) return layer(std::forward<Args>(args)...);
    if (!rngs) strata::internal::fail("Sequential", "a layer takes streams of random numbers");
    return layer(std::forward<Args>(args)..., *rngs);
  } else {
    return layer(std::forward<Args>(args)...);
  }
}

/// Whether layers, const or not as the first says, take these arguments one behind the other.
template <class Arguments, class... Ls>
struct Runs : std::true_type {};
template <class... Args, class L, class... Rest>
struct Runs<std::tuple<Args...>, L, Rest...> {
  template <class R>
  struct Next {
    using type = std::tuple<const R&>;
  };
  template <class... Rs>
  struct Next<std::tuple<Rs...>> {
    using type = std::tuple<const Rs&...>;
  };
  template <class A, class B>
  struct Next<std::pair<A, B>> {
    using type = std::tuple<const A&, const B&>;
  };
  static constexpr bool check() {
    if constexpr (std::is_invocable_v<L&, Args...> || std::is_invocable_v<L&, Args..., Rngs&>) {
      using R = std::remove_cvref_t<decltype(apply_layer(
          std::declval<L&>(), static_cast<Rngs*>(nullptr), std::declval<Args>()...))>;
      if constexpr (std::is_void_v<R>)
        return false;
      else
        return Runs<typename Next<R>::type, Rest...>::value;
    } else {
      return false;
    }
  }
  static constexpr bool value = check();
};

template <std::size_t I, class Layers, class... Args>
auto run_layers(Layers& layers, Rngs* rngs, const Args&... args) {
  if constexpr (I == std::tuple_size_v<std::remove_const_t<Layers>>) {
    if constexpr (sizeof...(Args) == 1)
      return std::get<0>(std::tuple(args...));
    else
      return std::tuple(args...);
  } else {
    auto out = apply_layer(std::get<I>(layers), rngs, args...);
    if constexpr (is_tuple<decltype(out)>)
      return std::apply(
          [&](const auto&... each) { return run_layers<I + 1>(layers, rngs, each...); }, out);
    else
      return run_layers<I + 1>(layers, rngs, out);
  }
}
}  // namespace detail

/// Calls each layer with what the one before returned, of which a tuple or pair becomes that many
/// arguments. A layer is anything that can be called. Source: Flax NNX's Sequential. Deviation:
/// there are no keyword arguments, so that a map is passed on as one argument.
template <class... Ls>
struct Sequential {
  std::tuple<Ls...> layers;
  STRATA_FIELDS(layers)

  Sequential() = default;
  template <class... Fs>
    requires(sizeof...(Fs) == sizeof...(Ls) && sizeof...(Fs) > 0 &&
             std::same_as<std::tuple<detail::AsLayer<Fs>...>, std::tuple<Ls...>>)
  explicit Sequential(Fs&&... fs) : layers(detail::as_layer(std::forward<Fs>(fs))...) {}

  template <class... Args>
    requires detail::Runs<std::tuple<const Args&...>, Ls...>::value
  auto operator()(const Args&... args) {
    const ModuleScope scope(*this, "Sequential");
    return scope.returns(detail::run_layers<0>(layers, nullptr, args...), args...);
  }
  template <class... Args>
    requires detail::Runs<std::tuple<const Args&...>, const Ls...>::value
  auto operator()(const Args&... args) const {
    const ModuleScope scope(*this, "Sequential");
    return scope.returns(detail::run_layers<0>(layers, nullptr, args...), args...);
  }
  /// The same, with streams for the layers that take some.
  template <class... Args>
  auto with_rngs(Rngs& rngs, const Args&... args) {
    const ModuleScope scope(*this, "Sequential");
    return scope.returns(detail::run_layers<0>(layers, &rngs, args...), args...);
  }
};
template <class... Fs>
Sequential(Fs&&...) -> Sequential<detail::AsLayer<Fs>...>;

/// The same of layers that are known at run time only.
struct Layers {
  List layers;
  STRATA_FIELDS(layers)

  /// All results of the last layer. Of const ones throws Error for a layer that a call may change.
  std::vector<Array> call(const std::vector<Array>& inputs, Rngs* rngs = nullptr);
  std::vector<Array> call(const std::vector<Array>& inputs, Rngs* rngs = nullptr) const;
  /// Of a last layer with one result. Throws Error where there are others.
  Array operator()(const Array& x);
  Array operator()(const Array& x) const;
  Array operator()(const Array& x, Rngs& rngs);
};

}  // namespace strata::nn
