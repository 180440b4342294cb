// Under which configuration a run took each of its steps.
//
//   note_configuration("runs/first", 30, config, data);         // a run that goes on from step 30
//   for (const Configuration& c : *read_configurations("runs/first")) ...
//
// RUN/configurations.jsonl has a line for each time that a run began or went on otherwise than
// before: {"from":30,"config":{...},"data":{...}}, of the steps behind step 30 up to the next
// line's. config is what config.yml says of the newest one, data what a checkpoint of that step
// notes. A run that goes on from an older step takes those behind it again, so that lines of later
// ones go. Runs that began before there was such a file have no line of their first steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/data/dataset.h"
#include "strata/train/config/config.h"

namespace strata::train {

struct Configuration {
  /// The completed steps that the run began with.
  std::int64_t from = 0;
  /// As JSON, for parse_config.
  std::string config;
  /// As JSON, for data::Dataset::check_state.
  std::string data;
};

/// The lines of a run's folder, by increasing steps; none where there is no such file.
/// Code::corrupt, with the number of the line, where one is none.
Result<std::vector<Configuration>> read_configurations(const std::string& run);
/// Notes that the run goes on from a step under a configuration; writes nothing where it did so
/// before. A file that is corrupt begins anew.
Status note_configuration(const std::string& run, std::int64_t from, const Config& config,
                          const data::Dataset& data);

}  // namespace strata::train
