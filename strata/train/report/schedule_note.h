// What a person should hear of a schedule that is not as long as its run.
//
//   schedule_note(config)   // "lr_pieces are 30 steps long, the run 4: it ends within them"
#pragma once

#include <string>

#include "strata/train/config/config.h"

namespace strata::train {

/// A sentence where lr_pieces end behind the run's last step, or before it, so that the run goes
/// on at the rate of their end without a `constant` that says so; else empty. Throws Error as
/// optim::parse_schedule.
std::string schedule_note(const Config& config);

}  // namespace strata::train
