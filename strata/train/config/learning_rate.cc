#include "strata/train/config/learning_rate.h"

#include <fmt/format.h>

#include <cmath>

#include "strata/optim/registry.h"
#include "strata/train/config/options.h"

namespace strata::train {
namespace {

/// MaxText's two, and a rate that does not change; their keys stand at the top.
struct Own {
  std::string_view name;
  std::vector<std::string_view> keys;
};
const std::vector<Own>& own() {
  static const std::vector<Own> all = {
      {"cosine",
       {"learning_rate", "warmup_steps_fraction", "learning_rate_final_fraction",
        "learning_rate_schedule_steps"}},
      {"wsd",
       {"learning_rate", "warmup_steps_fraction", "learning_rate_final_fraction",
        "learning_rate_schedule_steps", "wsd_decay_steps_fraction", "wsd_decay_style"}},
      {"constant", {"learning_rate"}}};
  return all;
}
const Own* own(const std::string& name) {
  for (const Own& o : own())
    if (o.name == name) return &o;
  return nullptr;
}

const optim::Described* described(const std::string& name) {
  for (const optim::Described& d : optim::described_schedules())
    if (d.name == name) return &d;
  return nullptr;
}

optim::Schedule of_maxtext(const Config& c) {
  const std::int64_t steps =
      c.learning_rate_schedule_steps < 0 ? c.steps : c.learning_rate_schedule_steps;
  // MaxText's int(): what is left of a step is none.
  auto part = [&](double fraction) {
    return static_cast<std::int64_t>(static_cast<double>(steps) * fraction);
  };
  const std::int64_t warmup = part(c.warmup_steps_fraction),
                     decay = part(c.wsd_decay_steps_fraction);
  const double end = c.learning_rate * c.learning_rate_final_fraction;
  using Kind = optim::SchedulePiece::Kind;
  // Its decays reach their end at their last step, not behind it.
  const auto to_end = [&](bool cosine, std::int64_t length) -> optim::Schedule {
    if (cosine) return optim::cosine_schedule(c.learning_rate, end, length - 1);
    if (length < 2) return optim::constant_schedule(c.learning_rate);
    return optim::pieces_schedule(
        {optim::SchedulePiece{Kind::linear, c.learning_rate, end, length - 1}});
  };
  const bool wsd = c.lr_schedule_type == "wsd";
  std::vector<optim::Schedule> pieces;
  std::vector<std::int64_t> boundaries;
  const auto add = [&](optim::Schedule piece, std::int64_t length) {
    if (length <= 0) return;
    pieces.push_back(std::move(piece));
    boundaries.push_back((boundaries.empty() ? 0 : boundaries.back()) + length);
  };
  add(optim::pieces_schedule({optim::SchedulePiece{Kind::linear, 0.0, c.learning_rate, warmup}}),
      warmup);
  if (wsd) add(optim::constant_schedule(c.learning_rate), steps - warmup - decay);
  const std::int64_t last = wsd ? decay : steps - warmup;
  add(to_end(!wsd || c.wsd_decay_style == "cosine", last), last);
  if (pieces.empty()) return optim::constant_schedule(c.learning_rate);
  boundaries.pop_back();
  optim::Schedule rate = optim::join_schedules(std::move(pieces), std::move(boundaries));
  // MaxText: no learning beyond the schedule.
  return steps < c.steps
             ? optim::join_schedules({std::move(rate), optim::constant_schedule(0.0)}, {steps})
             : rate;
}

}  // namespace

optim::Schedule make_schedule(const Config& c) {
  if (!c.lr_pieces.empty())
    return optim::pieces_schedule(optim::parse_schedule(lr_pieces_text(c), "lr_pieces"));
  if (c.lr_schedule_type == "constant") return optim::constant_schedule(c.learning_rate);
  if (own(c.lr_schedule_type)) return of_maxtext(c);
  try {
    return optim::make_schedule(c.lr_schedule_type, to_options(c.lr_schedule));
  } catch (const Error& e) {
    throw refusal_of_option(e, "lr_schedule", "lr_schedule_type=" + c.lr_schedule_type,
                            c.lr_schedule);
  }
}

std::vector<std::string_view> schedule_names() {
  std::vector<std::string_view> out;
  for (const Own& o : own()) out.push_back(o.name);
  for (const optim::Described& d : optim::described_schedules()) out.push_back(d.name);
  return out;
}

bool schedule_has_field(const Config& c, std::string_view name) {
  const Own* o = own(c.lr_schedule_type);
  return o && std::find(o->keys.begin(), o->keys.end(), name) != o->keys.end();
}

void check_schedule(const Config& c) {
  const std::string what = "lr_schedule_type=" + c.lr_schedule_type;
  if (const Own* o = own(c.lr_schedule_type)) {
    check_options("lr_schedule", what, c.lr_schedule, o->keys);
    return;
  }
  const optim::Described* d = described(c.lr_schedule_type);
  if (!d) throw ConfigError(what + ": there is no such schedule");
  check_options("lr_schedule", what, c.lr_schedule, names_of(*d));
  check_complete("lr_schedule", what, c.lr_schedule, *d);
  (void)make_schedule(c);
}

std::string describe_schedules() {
  std::string out =
      "\nSchedules of Optax (lr_schedule_type=NAME) and their options "
      "(lr_schedule.OPTION=VALUE):\n";
  for (const optim::Described& d : optim::described_schedules()) out += line_of(d, d.name);
  return out;
}

std::string schedule_options_not_given(const Config& c) {
  const optim::Described* d = described(c.lr_schedule_type);
  return d ? options_not_given(*d, c.lr_schedule) : "";
}

}  // namespace strata::train
