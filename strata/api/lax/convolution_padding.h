// What is added around the input of a transposed convolution. Private to this room.
#pragma once

#include "strata/api/lax/types.h"

namespace strata::lax::detail {

/// From the padding of the convolution that is transposed. Throws Error for a word other than SAME
/// and VALID.
std::vector<std::pair<std::int64_t, std::int64_t>> transposed_padding(
    const std::vector<std::int64_t>& window, const Sizes& strides, const WindowPadding& padding);

}  // namespace strata::lax::detail
