// Weights of length one, around any layer.
//
//   nn::WeightNorm layer(nn::Linear(8, 4, rngs));
//   Array y = layer(x);      // with kernel g / |kernel|, column by column
#pragma once

#include "strata/api/initializers.h"
#include "strata/nn/module.h"
#include "strata/nn/norm/statistics.h"
#include "strata/nn/norm/wrapped_weights.h"

namespace strata::nn {

/// The lengths of a WeightNorm. As upstream's, which are plain arrays there, they are no Param: who
/// trains them says `of<Param>() || tree::path("**/scales/*")`.
using WeightScale = Variable<VariableStateKind>;

struct WeightNormOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Axes each of whose places has a length of its own; none: the weight has one as a whole.
  std::optional<Axes> feature_axes = Axes(-1);
  bool use_scale = true;
  /// First lengths: ones, or what this makes of a key of the stream "params" for each weight, in
  /// the order of paths.
  std::optional<Initializer> scale_init = std::nullopt;
  double epsilon = 1e-12;
  /// Of the normalised weights; none: that in which weight and length meet.
  std::optional<DType> dtype = std::nullopt;
  /// Which Params of the layer are normalised.
  tree::Filter variable_filter = tree::path_contains("kernel");
  /// Writes the normalised weights into the layer, as upstream does: the next call starts with
  /// them, in their dtype. Else the layer has its own weights again behind the call.
  bool overwrite = false;
};

namespace detail {
/// How a WeightNorm makes weights.
struct WeightLengths {
  std::vector<std::int64_t> feature_axes = {-1};
  double epsilon = 1e-12;
  std::optional<DType> dtype;
  bool use_scale = true;
  STRATA_FIELDS(feature_axes, epsilon, dtype, use_scale)
};
/// Lengths of ones, or of an initializer, for each weight.
std::map<std::string, WeightScale> first_scales(const tree::Tree& weights,
                                                const WeightNormOptions& options, Rngs* rngs);
/// w rsqrt(sum(w^2) + epsilon) g for each weight.
tree::Tree of_length(const tree::Tree& weights, const std::map<std::string, WeightScale>& scales,
                     const WeightLengths& lengths);
}  // namespace detail

/// Calls the layer with w rsqrt(sum(w^2) + epsilon) g in place of its weights w, the sum over all
/// axes but those of features. Throws Error for a feature axis that a weight has not, and where the
/// layer's weights have changed their paths. Source: Salimans and Kingma, Weight Normalization
/// (2016); Flax NNX's WeightNorm. Deviations: it does not overwrite the weights unless told to, and
/// `scale_init` gets a key, where upstream hands it a stream.
template <class L>
struct WeightNorm {
  L layer_instance;
  std::map<std::string, WeightScale> scales;  // by path: "(kernel)"
  /// The paths of what is normalised.
  std::vector<std::string> weights;
  detail::WeightLengths lengths;
  bool overwrite = false;
  STRATA_FIELDS(layer_instance, scales, weights, lengths, overwrite)

  WeightNorm() = default;
  /// Takes no key.
  explicit WeightNorm(L layer, const WeightNormOptions& options = {})
      : WeightNorm(std::move(layer), nullptr, options) {}
  /// Takes keys of the stream "params" where there is a `scale_init`.
  WeightNorm(L layer, Rngs& rngs, const WeightNormOptions& options = {})
      : WeightNorm(std::move(layer), &rngs, options) {}

  /// The layer's result for these arguments.
  template <class... Args>
  auto operator()(const Array& x, Args&&... args) {
    const ModuleScope scope(*this, "WeightNorm");
    const tree::Tree before = tree::of(layer_instance).filter(tree::path_in(weights));
    if (before.size() != weights.size())
      strata::internal::fail("WeightNorm", "the layer had {} weights to normalise, and has {}",
                             weights.size(), before.size());
    const detail::OtherWeights<L> other(layer_instance, before,
                                        detail::of_length(before, scales, lengths), overwrite);
    return scope.returns(layer_instance(x, std::forward<Args>(args)...), x);
  }

 private:
  WeightNorm(L layer, Rngs* rngs, const WeightNormOptions& o)
      : layer_instance(std::move(layer)), overwrite(o.overwrite) {
    const tree::Tree chosen = tree::of(layer_instance)
                                  .filter(tree::of_kind(tree::kinds::param) && o.variable_filter)
                                  .sorted();
    weights = chosen.names();
    lengths.feature_axes =
        o.feature_axes ? given_axes("WeightNorm", *o.feature_axes) : std::vector<std::int64_t>();
    lengths.epsilon = o.epsilon;
    lengths.dtype = o.dtype;
    lengths.use_scale = o.use_scale;
    if (o.use_scale) scales = detail::first_scales(chosen, o, rngs);
  }
};

}  // namespace strata::nn
