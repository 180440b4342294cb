#include "strata/model/decoder/staged_rows.h"

namespace strata::model::decoder::internal {

Array rows_at_tick(const Array& parts, const Array& tick, const Pipeline& p) {
  const Array number =
      maximum(tick - arange(p.stages), 0) % static_cast<std::int32_t>(p.microbatches);
  return over_stages(take(parts, number, 0, {.mode = "clip"}), 0);
}
Array counted_at_tick(const Array& x, const Array& tick, const Pipeline& p) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(x.ndim()), 1);
  shape[0] = p.stages;
  const Array unit = reshape(tick - arange(p.stages), shape);
  const Array works = logical_and(
      greater_equal(unit, 0), less(unit, static_cast<std::int32_t>(p.microbatches * p.repeats)));
  return sum(where(works, x, zeros_like(x)), {0});
}

}  // namespace strata::model::decoder::internal
