// Weights of spectral norm one, around any layer.
//
//   nn::SpectralNorm layer(nn::Linear(4, 5, rngs), rngs);
//   Array y = layer(x);                                // with kernel / sigma; improves sigma
//   Array z = layer(x, {.update_stats = false});       // leaves what is known of sigma
#pragma once

#include "strata/nn/module.h"
#include "strata/nn/norm/wrapped_weights.h"
#include "strata/nn/random/rngs.h"

namespace strata::nn {

struct SpectralNormOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Steps of the power iteration in a call; below 1 nothing is normalised.
  std::int64_t n_steps = 1;
  /// Joins the sum of squares by which vectors are divided.
  double epsilon = 1e-12;
  /// To which normalised weights are rounded; none: that in which weight and vectors meet.
  std::optional<DType> dtype = std::nullopt;
  DType param_dtype = DType::f32;
  /// Refuses weights of more than two axes, of which else all but the last count as one.
  bool error_on_non_matrix = false;
  bool update_stats = true;
  /// Writes the normalised weights into the layer, as upstream does: the next call starts with
  /// them. Else the layer has its own weights again behind the call.
  bool overwrite = false;
};

struct SpectralNormCall {
  strata::internal::Named named = strata::internal::Named();
  /// In place of the layer's own.
  std::optional<bool> update_stats = std::nullopt;
};

namespace detail {
/// How a SpectralNorm finds the greatest singular value.
struct PowerIteration {
  std::int64_t n_steps = 1;
  double epsilon = 1e-12;
  std::optional<DType> dtype;
  STRATA_FIELDS(n_steps, epsilon, dtype)
};
/// The Params of two axes and more, in upstream's order. Throws Error for more than two where they
/// are refused.
tree::Tree matrices(const tree::Tree& layer, const SpectralNormOptions& options);
/// First vectors and values for each weight, of a key of the stream "params" each.
std::map<std::string, BatchStat> first_vectors(const tree::Tree& weights,
                                               const SpectralNormOptions& options, Rngs& rngs);
/// w / sigma for each weight; moves the vectors on where `update`.
tree::Tree of_spectral_norm(const tree::Tree& weights, std::map<std::string, BatchStat>& stats,
                            const PowerIteration& iteration, bool update);
}  // namespace detail

/// Calls the layer with W / sigma in place of its weights W: Params of two axes and more, taken as
/// matrices (-1, last). A step is v = u W^T / |.|, u = v W / |.|; sigma = v W u^T, through u and v
/// without derivative; where it is 0 the weight stays. Throws Error where the layer's weights have
/// changed their paths. Source: Miyato et al., Spectral Normalization (2018); Flax NNX's
/// SpectralNorm. Deviation: it does not overwrite the weights unless told to.
template <class L>
struct SpectralNorm {
  L layer_instance;
  std::map<std::string, BatchStat> batch_stats;  // by path: "(kernel,u)" (1, n), "(kernel,sigma)"
  /// The paths of what is normalised.
  std::vector<std::string> weights;
  detail::PowerIteration iteration;
  /// Whether vectors stay as they are: update_stats, the other way round.
  bool use_running_average = false;
  bool overwrite = false;
  STRATA_FIELDS(layer_instance, batch_stats, weights, iteration, use_running_average, overwrite)

  SpectralNorm() = default;
  /// Takes a key of the stream "params" for each weight, in the order of paths.
  SpectralNorm(L layer, Rngs& rngs, const SpectralNormOptions& o = {})
      : layer_instance(std::move(layer)),
        iteration{o.n_steps, o.epsilon, o.dtype},
        use_running_average(!o.update_stats),
        overwrite(o.overwrite) {
    const tree::Tree chosen = detail::matrices(tree::of(layer_instance), o);
    weights = chosen.names();
    batch_stats = detail::first_vectors(chosen, o, rngs);
  }

  /// The layer's result for x.
  auto operator()(const Array& x, const SpectralNormCall& call = {}) {
    const ModuleScope scope(*this, "SpectralNorm");
    const tree::Tree before = tree::of(layer_instance).filter(tree::path_in(weights));
    if (before.size() != weights.size())
      strata::internal::fail("SpectralNorm", "the layer had {} weights to normalise, and has {}",
                             weights.size(), before.size());
    const detail::OtherWeights<L> other(
        layer_instance, before,
        detail::of_spectral_norm(before, batch_stats, iteration,
                                 call.update_stats.value_or(!use_running_average)),
        overwrite);
    return scope.returns(layer_instance(x), x);
  }
};

}  // namespace strata::nn
