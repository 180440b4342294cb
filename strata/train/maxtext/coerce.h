// Values made to fit the types of MaxText's keys, by the rules of pydantic.
#pragma once

#include <string>
#include <vector>

#include "strata/train/maxtext/value.h"

namespace strata::train::maxtext {

/// What is wrong with one key.
struct Misfit {
  std::string key;
  /// pydantic's word: "int_parsing", "enum", "greater_than_equal".
  std::string kind;
  std::string message;
};

/// The values of all keys: those that are given made to fit their types, defaults for the others.
/// What does not fit is added to `misfits`.
Dict fit_keys(const Dict& given, std::vector<Misfit>& misfits);

}  // namespace strata::train::maxtext
