// A rectifier whose slope is trained.
#pragma once

#include "strata/nn/compiled_visit.h"
#include "strata/nn/module.h"

namespace strata::nn {

struct PReLUOptions {
  strata::internal::Named named = strata::internal::Named();
  double negative_slope_init = 0.01;
  DType param_dtype = DType::f32;
  /// Of the result; none: that of x.
  std::optional<DType> dtype = std::nullopt;
  Metadata negative_slope_metadata = {};
};

/// x where x >= 0, else slope x, elementwise. Source: He et al., Delving Deep into Rectifiers
/// (2015); Flax NNX's PReLU.
struct PReLU {
  Param negative_slope;  // ()
  std::optional<DType> dtype;
  STRATA_FIELDS(negative_slope, dtype)

  PReLU() : PReLU(PReLUOptions{}) {}
  explicit PReLU(const PReLUOptions& options);
  Array operator()(const Array& x) const;
};

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::PReLU)
