#include "strata/nn/attention/rotary.h"

#include "strata/api/index.h"
#include "strata/base/error.h"

namespace strata::nn {

RotaryTables rotary_tables(const Array& positions, std::int64_t head_dim, double theta) {
  if (head_dim % 2 != 0)
    throw Error("rotary_tables", "the width of a head is even, got {}", head_dim);
  Array exponent = astype(arange(0, head_dim, 2), DType::f32) / static_cast<double>(-head_dim);
  Array frequency = power(full({}, theta, DType::f32), exponent);
  Array angle = expand_dims(astype(positions, DType::f32), 1) * expand_dims(frequency, 0);
  return {cos(angle), sin(angle)};
}

RotaryTables rotary_tables(std::int64_t length, std::int64_t head_dim, double theta) {
  return rotary_tables(arange(length), head_dim, theta);
}

Array apply_rotary(const Array& x, const RotaryTables& tables) {
  std::int64_t half = x.shape(-1) / 2;
  Array c = expand_dims(tables.cos, {0, 2}), s = expand_dims(tables.sin, {0, 2});
  std::vector<Array> parts = split(x, std::vector<std::int64_t>{half}, -1);
  return astype(concatenate({parts[0] * c - parts[1] * s, parts[1] * c + parts[0] * s}, -1),
                x.dtype());
}

}  // namespace strata::nn
