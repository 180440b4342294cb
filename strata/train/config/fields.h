// The keys that are not nested: their table, and values as text and back (private to this room).
#pragma once

#include "strata/train/config/config.h"

namespace strata::train {

/// "an integer from 1 to 1024".
std::string allowed(const Field& field);
/// Sets a key of the configuration's own. Throws ConfigError for a value that is not allowed.
void set_field(Config& config, const Field& field, const std::string& value);
/// The value of a key.
nlohmann::ordered_json to_value(const Config& config, const Field& field);

}  // namespace strata::train
