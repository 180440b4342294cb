// Schedules as people write them: pieces, one after the other.
//
//   auto pieces = optim::parse_schedule("linear 0 -> 3e-4 over 100, constant 1000, cosine -> 3e-5
//   over 400"); optim::Schedule rate = optim::pieces_schedule(pieces);      //
//   optim/schedule/schedule.h optim::total_steps(pieces)     // 1500 optim::to_string(pieces) //
//   "linear 0 -> 0.0003 over 100, constant 0.0003 over 1000, cosine 0.0003 -> 3e-05 over 400"
//
//   schedule  = piece {"," piece}, in brackets or not
//   piece     = ("linear" | "cosine") [RATE] ("->" | "→") RATE "over" STEPS
//             | "constant" RATE "over" STEPS
//             | "constant" [STEPS]
//
// A piece without a rate to start from starts where the piece before it ended, so that the rate has
// no jump unless one is written; the first piece names its own. "constant" without a number of
// steps stands last and lasts. After the last step of the last piece the rate stays as it is. Rates
// are 0 or above, steps 1 or above; "for" may stand in place of "over", 1e4 in place of 10000.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::optim {

/// A part of a schedule: its kind, its length in steps, and the values at its ends.
struct SchedulePiece {
  /// How the value goes from one end of a part to the other.
  enum class Kind { constant, linear, cosine };
  Kind kind = Kind::constant;
  double from = 0, to = 0;  // equal for a constant
  /// None: until the end of the run.
  std::optional<std::int64_t> steps;
  bool operator==(const SchedulePiece&) const = default;
};

/// Throws Error in the name of `name` (the configuration's key, say) for a text outside the
/// grammar. The message says what is wrong and what is allowed; its second line is the text, its
/// third marks the word that is meant.
std::vector<SchedulePiece> parse_schedule(std::string_view text,
                                          std::string_view name = "schedule");

/// Steps of all pieces together; a last one that lasts counts 0.
std::int64_t total_steps(const std::vector<SchedulePiece>& pieces);

/// The pieces with all their rates, which `parse_schedule` reads back to the same pieces.
std::string to_string(const std::vector<SchedulePiece>& pieces);

}  // namespace strata::optim
