// Options of rules and schedules as configurations have them (private to this room).
#pragma once

#include "strata/optim/registry.h"
#include "strata/train/config/config.h"

namespace strata::train {

/// A table as options of optim's registry. With a rate, every table below it whose `name` is a rule
/// that takes a learning_rate, and has none, is given this one.
optim::Options to_options(const Table& table, const std::optional<optim::Option>& rate = {});

/// The names of all parameters.
std::vector<std::string_view> names_of(const optim::Described& described);
/// Throws ConfigError for a key of the table that is not among `known`: "optimizer.bta=1:
/// opt_type=adam has no option 'bta'; did you mean 'beta'?", with all that are known.
void check_options(const std::string& prefix, const std::string& what, const Table& table,
                   const std::vector<std::string_view>& known);
/// Throws ConfigError where parameters without a default are not given, naming them.
void check_complete(const std::string& prefix, const std::string& what, const Table& table,
                    const optim::Described& described);
/// What the registry refused, in the words of a configuration: in front the key and value that its
/// message is about, where it names one.
ConfigError refusal_of_option(const Error& error, const std::string& prefix,
                              const std::string& what, const Table& table);

/// "  adam: b1=0.9, b2=0.999 (a sentence)" and a line's end.
std::string line_of(const optim::Described& described, std::string_view name);
/// "  # b1: 0.9" for each parameter that the table lacks.
std::string options_not_given(const optim::Described& described, const Table& table);

}  // namespace strata::train
