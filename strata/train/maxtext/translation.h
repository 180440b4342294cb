// What a command line of MaxText's amounts to here.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::train::maxtext {

/// A configuration of `train::read_config`, and what is to be said about it.
struct Translation {
  /// key=value, all that differ from this trainer's defaults.
  std::vector<std::string> keys;
  /// "KEY=VALUE accepted, no effect here, because ...", one for each key that was given.
  std::vector<std::string> notes;
  /// dataset_type=synthetic: a file that is to be written first, and what it holds.
  std::optional<std::pair<std::string, std::string>> synthetic;
};

}  // namespace strata::train::maxtext
