#include "strata/nn/transform/metadata.h"

namespace strata::nn::detail {

const ScanAxis& axis_of_argument(const TransformMetadataOptions& options, std::size_t i,
                                 std::size_t count) {
  const std::size_t given = options.in_axes.size();
  if (given != 1 && given != count)
    strata::internal::fail("transform_metadata", "in_axes has {} entries for {} arguments", given,
                           count);
  return options.in_axes[given == 1 ? 0 : i];
}

}  // namespace strata::nn::detail
