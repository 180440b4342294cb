// The learning rate that a configuration describes.
#pragma once

#include "strata/optim/schedule/schedule.h"
#include "strata/train/config/config.h"

namespace strata::train {

/// By lr_pieces where they are given, else by lr_schedule_type: MaxText's, a constant, or a
/// schedule of optim's registry with its options below lr_schedule. Throws ConfigError.
optim::Schedule make_schedule(const Config& config);

/// What lr_schedule_type may be; the texts live for ever.
std::vector<std::string_view> schedule_names();
/// Whether the chosen schedule's options are keys at the top, and this is one of them.
bool schedule_has_field(const Config& config, std::string_view name);
/// Throws ConfigError for options that the chosen schedule lacks, and for those that it misses.
void check_schedule(const Config& config);
/// Names and options, for --help.
std::string describe_schedules();
/// Lines of comment: the options that the configuration does not give, with their defaults.
std::string schedule_options_not_given(const Config& config);

}  // namespace strata::train
