// Checkpoints written in the background while the work goes on.
//
//   checkpoint::Writer writer("run/checkpoints", {.newest = 3}, [&](const std::string& folder) {
//   progress.line("saved " + folder); }); while (step()) {
//     if (Status s = writer.poll(); !s.ok()) return s;
//     if (due) if (Status s = writer.save(snapshot()); !s.ok()) return s;
//   }
//   return writer.wait();
//
// A snapshot shares its tensors' memory: nobody may change them while it is written. Arrays keep
// that promise by themselves, for a step takes the memory of a donated argument only where no other
// handle is left (runtime/client.h); so a snapshot costs nothing when it is taken, and as much
// memory as its tensors until it is on disk.
#pragma once

#include <functional>
#include <future>
#include <string>

#include "strata/checkpoint/any_format.h"
#include "strata/checkpoint/checkpoint.h"

namespace strata::checkpoint {

/// Saves below one root, at most one checkpoint at a time. For one thread, on which alone `saved`
/// is called.
class Writer {
 public:
  /// `saved(folder)` is called once by the functions below after a checkpoint is durable. Formats
  /// are those of folders.
  Writer(std::string root, Keep keep, std::function<void(const std::string& folder)> saved = {},
         any_format::Format format = any_format::Format::strata);
  /// Waits for the save under way; what came of it is told to nobody.
  ~Writer() = default;

  /// Waits for the save before; when that failed, gives its status and begins nothing. Then begins
  /// this one and returns. `still` as in checkpoint::save.
  Status save(Checkpoint checkpoint, Still still = {});
  /// What came of a save that is over; ok while one is under way.
  Status poll();
  /// Waits for the save under way.
  Status wait();

 private:
  const std::string root_;
  const Keep keep_;
  const std::function<void(const std::string&)> saved_;
  const any_format::Format format_;
  std::string folder_;
  std::future<Status> under_way_;  // of std::async: its destructor waits
};

}  // namespace strata::checkpoint
