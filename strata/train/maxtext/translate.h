// MaxText's configuration as this trainer's.
//
//   maxtext::Translation t = maxtext::translate(maxtext::resolve(arguments));
//   train::Config config = train::read_config({}, t.keys);
#pragma once

#include <string>
#include <vector>

#include "strata/train/config/config.h"
#include "strata/train/maxtext/config.h"
#include "strata/train/maxtext/translation.h"

namespace strata::train::maxtext {

/// Throws ConfigError for keys whose values would change what is computed and are not built, naming
/// each: "KEY=VALUE is not supported yet". With `train` false the keys of data are passed over.
Translation translate(const Resolved& resolved, bool train = true);

/// The text of the keys as MaxText logs them: "Config param KEY: VALUE", sorted, without tokens of
/// access.
std::vector<std::string> config_lines(const Resolved& resolved);

/// What `strata config explain KEY` prints: type, default, value and where it comes from, effect.
/// Throws ConfigError, with the nearest key, for one that MaxText lacks.
std::string explain(const std::string& key, const Resolved& resolved);

/// Whether these arguments of `strata train` are MaxText's: the first names one of its files, or a
/// file that builds on one, or some key is one that only MaxText has.
bool is_maxtext(const std::vector<std::string>& arguments);
/// The first argument KEY=VALUE whose key only MaxText has; empty where there is none.
std::string first_of_maxtext(const std::vector<std::string>& arguments);

}  // namespace strata::train::maxtext
