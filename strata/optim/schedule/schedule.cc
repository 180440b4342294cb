#include "strata/optim/schedule/schedule.h"

#include <algorithm>

#include "strata/base/error.h"

namespace strata::optim {
namespace {

/// How much of `steps` is done, 0 to 1, f32.
Array done(const Array& count, std::int64_t steps) {
  if (steps <= 0) return ones({});
  return clip(astype(count, DType::f32) / static_cast<double>(steps), 0.0, 1.0);
}

/// Weights 1 and 0 give the ends without rounding, as a sum of `initial` and a difference would
/// not.
Array blend(double initial, double final, const Array& weight_of_final) {
  return initial * (1.0 - weight_of_final) + final * weight_of_final;
}

/// Straight from `initial` to `final`, which holds from `steps` on, and from the start where there
/// are none; Optax's form, in schedules.h, differs in the last bits.
Schedule line(double initial, double final, std::int64_t steps) {
  return [=](const Array& count) { return blend(initial, final, done(count, steps)); };
}

Schedule one(const SchedulePiece& p) {
  using Kind = SchedulePiece::Kind;
  switch (p.kind) {
    case Kind::constant: return constant_schedule(p.to);
    case Kind::linear: return line(p.from, p.to, p.steps.value_or(0));
    case Kind::cosine: return cosine_schedule(p.from, p.to, p.steps.value_or(0));
  }
  return {};
}

}  // namespace

Schedule::Schedule(Array rate)
    : f_([rate = std::move(rate)](const Array&) {
        if (rate.ndim() != 0)
          throw Error("optim", "a learning rate is a number, got an array of {} axes", rate.ndim());
        return astype(rate, DType::f32);
      }) {}
Schedule Schedule::constant(double rate) {
  return [rate](const Array&) { return full({}, rate, DType::f32); };
}
Array Schedule::operator()(const Array& count) const {
  if (!f_) throw Error("optim", "a schedule without a rate was asked for one");
  return f_(count);
}

Schedule constant_schedule(double value) { return value; }

Schedule cosine_schedule(double initial, double final, std::int64_t steps) {
  return [=](const Array& count) {
    return blend(initial, final, 0.5 * (1.0 - cos(pi * done(count, steps))));
  };
}

Schedule join_schedules(std::vector<Schedule> pieces, std::vector<std::int64_t> boundaries) {
  if (pieces.size() != boundaries.size() + 1)
    throw Error("join_schedules", "{} pieces need one boundary fewer, got {}", pieces.size(),
                boundaries.size());
  if (!std::is_sorted(boundaries.begin(), boundaries.end()))
    throw Error("join_schedules", "a boundary lies before the one before it");
  return [pieces = std::move(pieces), boundaries = std::move(boundaries)](const Array& count) {
    Array rate = pieces[0](count);
    for (std::size_t i = 0; i < boundaries.size(); ++i)
      rate = where(less(count, boundaries[i]), rate, pieces[i + 1](count - boundaries[i]));
    return rate;
  };
}

Schedule wsd_schedule(double peak, std::int64_t warmup_steps, std::int64_t stable_steps,
                      std::int64_t decay_steps, double end, DecayStyle style) {
  Schedule decay = style == DecayStyle::cosine ? cosine_schedule(peak, end, decay_steps)
                                               : line(peak, end, decay_steps);
  return join_schedules({line(0.0, peak, warmup_steps), constant_schedule(peak), std::move(decay)},
                        {warmup_steps, warmup_steps + stable_steps});
}

Schedule pieces_schedule(const std::vector<SchedulePiece>& pieces) {
  std::vector<Schedule> schedules;
  std::vector<std::int64_t> boundaries;
  std::int64_t steps = 0;
  for (const SchedulePiece& p : pieces) {
    if (!schedules.empty()) boundaries.push_back(steps);
    schedules.push_back(one(p));
    steps += p.steps.value_or(0);
  }
  // The last piece stays at its end for ever, as all of ours do.
  return join_schedules(std::move(schedules), std::move(boundaries));
}

}  // namespace strata::optim
