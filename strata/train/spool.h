// The files of a run that grow: metrics and events.
//
//   Spool spool("gs://bucket/runs/first");
//   spool.fetch();                                     // what an earlier process put there
//   append(spool.path("metrics/metrics.jsonl"));
//   spool.publish();                                   // before each save
//
// Nothing can be added to the end of an object of a bucket. Such files are kept in a folder of
// their own on this machine's disk, which goes with the process, and copied whole to the bucket
// when a checkpoint is saved and at the end: what a crash loses are the lines of steps that are
// taken again. Of a run on a disk the files are where they belong, and neither call does anything.
#pragma once

#include <map>
#include <string>

#include "strata/base/result.h"

namespace strata::train {

class Spool {
 public:
  /// Of the run whose folder this is.
  explicit Spool(std::string run_folder) : run_(std::move(run_folder)) {}
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  /// Brings the run's files here. To be called before `path`'s are written.
  Status fetch();
  /// The path of a file or folder of the run on this machine.
  std::string path(const std::string& name) const;
  /// Copies what changed since the last call to the run's folder.
  Status publish();

 private:
  std::string run_, local_;
  std::map<std::string, std::size_t> published_;  // sizes: files only grow
};

}  // namespace strata::train
