#include "strata/nn/rotary.h"

#include "strata/api/index.h"

namespace strata::nn {

RotaryTables rotary_tables(std::int64_t positions, std::int64_t head_dim, double theta) {
  Array exponent = astype(arange(0, head_dim, 2), DType::f32) / static_cast<double>(-head_dim);
  Array frequency = power(full({}, theta, DType::f32), exponent);
  Array angle = expand_dims(astype(arange(positions), DType::f32), 1) * expand_dims(frequency, 0);
  return {cos(angle), sin(angle)};
}

Array apply_rotary(const Array& x, const RotaryTables& tables) {
  std::int64_t half = x.shape(-1) / 2;
  Array c = expand_dims(tables.cos, {0, 2}), s = expand_dims(tables.sin, {0, 2});
  std::vector<Array> parts = split(x, std::vector<std::int64_t>{half}, -1);
  return astype(concatenate({parts[0] * c - parts[1] * s, parts[1] * c + parts[0] * s}, -1), x.dtype());
}

}  // namespace strata::nn
