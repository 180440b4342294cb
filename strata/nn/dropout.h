// Dropout.
//
//   nn::Dropout drop(0.1, rngs);
//   Array y = drop(x);                                // in training
//   Array z = drop(x, {.deterministic = true});       // x
#pragma once

#include "strata/nn/compiled_visit.h"
#include "strata/nn/module.h"
#include "strata/nn/random/lent_stream.h"

namespace strata::nn {

struct DropoutOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Axes along which elements are kept or dropped together.
  std::vector<std::int64_t> broadcast_dims = {};
  /// Whether nothing is dropped; none: each call says it, or `view`.
  std::optional<bool> deterministic = false;
  /// The stream that keys come from.
  std::string rng_collection = "dropout";
};

struct DropoutCall {
  strata::internal::Named named = strata::internal::Named();
  /// In place of the layer's own.
  std::optional<bool> deterministic = std::nullopt;
  /// Streams, a stream or a key in place of the layer's own stream.
  LentStream rngs = {};
};

/// Each element with probability `rate` 0, else divided by 1 - rate. Throws Error where neither the
/// layer nor the call says whether it is deterministic, and where there is no stream. Source:
/// Srivastava et al., Dropout (2014); Flax NNX's Dropout.
struct Dropout {
  std::optional<RngStream> rngs;
  double rate = 0;
  std::vector<std::int64_t> broadcast_dims;
  std::optional<bool> deterministic = false;
  std::string rng_collection = "dropout";
  STRATA_FIELDS(rngs, rate, broadcast_dims, deterministic, rng_collection)

  Dropout() = default;
  /// Without a stream of its own: each call brings one.
  explicit Dropout(double rate, const DropoutOptions& options = {});
  /// Forks the stream `rng_collection`. Throws Error for a rate outside [0, 1].
  Dropout(double rate, Rngs& rngs, const DropoutOptions& options = {});
  Dropout(double rate, RngStream& stream, const DropoutOptions& options = {});

  Array operator()(const Array& x, const DropoutCall& call = {});
  Array operator()(const Array& x, Rngs& streams) {
    return (*this)(x, DropoutCall{.rngs = streams});
  }
};

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::Dropout)
