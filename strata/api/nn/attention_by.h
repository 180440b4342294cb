// dot_product_attention with other products, for those who watch or replace the products of layers
// (nn/linear/products.h).
#pragma once

#include <functional>

#include "strata/api/lax/products.h"
#include "strata/api/nn/attention.h"

namespace strata::nn::detail {

/// Forms lhs . rhs over the dimensions, as lax::dot_general; `preferred` is the result's dtype.
using AttentionProduct = std::function<Array(const Array& lhs, const Array& rhs,
                                             const lax::DotDimensionNumbers& dimensions,
                                             std::optional<DType> preferred)>;

/// dot_product_attention whose scores and weighted sums are formed by `product`.
Array dot_product_attention_by(const AttentionProduct& product, const Operand& query,
                               const Operand& key, const Operand& value,
                               const DotProductAttention& options);

}  // namespace strata::nn::detail
