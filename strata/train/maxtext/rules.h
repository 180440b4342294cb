// Evaluates MaxText's validators: they derive values from each other and refuse what does not go
// together.
//
//   Values values = ...;                       // of every key
//   run_validators({&values, environment});    // throws Refused
#pragma once

#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "strata/train/maxtext/value.h"

namespace strata::train::maxtext {

/// What MaxText raises: the class of its exception, and its text.
class Refused : public std::runtime_error {
 public:
  Refused(std::string error_class, const std::string& text)
      : std::runtime_error(text), class_(std::move(error_class)) {}
  /// "ValueError", "TypeError", "ValidationError" and so on.
  const std::string& error_class() const { return class_; }

 private:
  std::string class_;
};

/// What validators ask of the process.
struct Surroundings {
  /// A variable of the environment; nothing where it is not set.
  std::function<const char*(const std::string&)> variable;
  /// Devices of this process, and of all.
  int devices = 1;
  /// Whether the process has joined others (jax.distributed upstream).
  bool distributed = false;
};

/// Keys that were assigned, each with the keys that its value and the conditions before it read;
/// beside keys, "the time", "the devices of this process" and variables of the environment ("$A").
using Origins = std::map<std::string, std::set<std::string>>;

struct RuleContext {
  Dict& values;
  const Surroundings& around;
  /// What upstream logs as warnings.
  std::vector<std::string>& warnings;
  /// Written by validators that assign.
  Origins& origins;
};

/// Runs all validators in upstream's order on the values of all keys. Throws Refused with the class
/// that was raised: ValueError, AssertionError, NotImplementedError, or a Python error of
/// evaluation, TypeError and the like.
void run_validators(const RuleContext& context);

}  // namespace strata::train::maxtext
