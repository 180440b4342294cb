// YAML as OmegaConf reads it: 1e-05 is a float, 150_001 an integer, yes a bool.
#pragma once

#include <string>
#include <utility>

#include "strata/train/maxtext/value.h"

namespace strata::train::maxtext {

/// The value of a YAML text. Throws Refused of class YAMLError for what is not YAML, or nests
/// deeper than 64.
Value read_yaml(const std::string& text);
/// Lays `over` on `base` as OmegaConf.merge does: dicts are merged, all else is replaced.
Value merge(const Value& base, const Value& over);
/// The key and value of "key=value" of a command line; a key alone is None. Dots and brackets in
/// the key nest.
std::pair<std::string, Value> read_argument(const std::string& argument);
/// Sets a nested key, making dicts on its way. Throws Refused of class ConfigKeyError where one
/// stands in the way.
void update(Dict& at, const std::string& key, const Value& value);

}  // namespace strata::train::maxtext
