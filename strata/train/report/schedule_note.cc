#include "strata/train/report/schedule_note.h"

#include <fmt/format.h>

#include "strata/optim/schedule/schedule_text.h"
#include "strata/train/config/learning_rate.h"

namespace strata::train {

std::string schedule_note(const Config& c) {
  if (c.lr_pieces.empty()) return "";
  const auto pieces = optim::parse_schedule(lr_pieces_text(c), "lr_pieces");
  const std::int64_t total = optim::total_steps(pieces);
  if (total > c.steps)
    return fmt::format("lr_pieces are {} steps long, the run {}: it ends within them", total,
                       c.steps);
  if (total < c.steps && pieces.back().kind != optim::SchedulePiece::Kind::constant)
    return fmt::format("lr_pieces are {} steps long, the run {}: from there on the rate stays {:g}",
                       total, c.steps, pieces.back().to);
  return "";
}

}  // namespace strata::train
