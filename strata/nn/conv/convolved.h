// What Conv and ConvTranspose share. Private to this room.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "strata/api/lax/convolution.h"
#include "strata/nn/conv/constant.h"

namespace strata::nn::detail {

/// An input whose batch axes are one, and how results get theirs back.
class Batched {
 public:
  /// Throws Error where the input has fewer axes than the kernel's spatial ones and features, or
  /// not `features` of these.
  Batched(const char* layer, const Array& given, const Array& kernel, std::int64_t features);
  Array restore(const Array& y) const;
  Array x;

 private:
  std::vector<std::int64_t> batch_;
};

/// Batch, spatial axes, features; the kernel's features last, those of the input first.
lax::ConvDimensionNumbers channels_last(std::size_t axes);
/// A mask of the kernel's shape. Throws Error for another.
Constant checked_mask(const char* layer, const Array& mask, const Array& kernel);
/// f(x, kernel mask), cast to the dtype in which all meet. The kernel passes through the door of
/// products as it is; `finish`, where there is one, comes before the bias.
Array convolved(const char* op, const Array& x, const Param& kernel,
                const std::optional<Constant>& mask, const std::optional<Param>& bias,
                const ProductOptions& product, const PlainProduct& f,
                const std::function<Array(const Array&)>& finish = {});

}  // namespace strata::nn::detail
