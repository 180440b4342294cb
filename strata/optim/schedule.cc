#include "strata/optim/schedule.h"

#include <algorithm>

#include "strata/base/error.h"

namespace strata::optim {

Schedule constant_schedule(double value) {
  return [value](const Array&) { return full({}, value, DType::f32); };
}

Schedule linear_schedule(double initial, double final, std::int64_t steps) {
  double length = static_cast<double>(std::max<std::int64_t>(1, steps));
  return [=](const Array& count) { return initial + (final - initial) * minimum(astype(count, DType::f32) / length, 1.0); };
}

Schedule cosine_decay_schedule(double peak, std::int64_t steps, double alpha) {
  double length = static_cast<double>(std::max<std::int64_t>(1, steps));
  return [=](const Array& count) {
    Array part = minimum(astype(count, DType::f32) / length, 1.0);
    return peak * ((1 - alpha) * 0.5 * (1.0 + cos(pi * part)) + alpha);
  };
}

Schedule join_schedules(std::vector<Schedule> pieces, std::vector<std::int64_t> boundaries) {
  if (pieces.size() != boundaries.size() + 1)
    throw Error("join_schedules", "{} pieces need {} boundaries, got {}", pieces.size(), pieces.size() - 1, boundaries.size());
  return [=](const Array& count) {
    Array rate = pieces[0](count);
    for (std::size_t i = 0; i < boundaries.size(); ++i)
      rate = where(less(count, boundaries[i]), rate, pieces[i + 1](count - boundaries[i]));
    return rate;
  };
}

Schedule warmup_cosine_schedule(double peak, std::int64_t warmup, std::int64_t steps, double alpha) {
  return join_schedules({linear_schedule(0.0, peak, warmup), cosine_decay_schedule(peak, steps - warmup, alpha)}, {warmup});
}

}  // namespace strata::optim
