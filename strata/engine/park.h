// Conversations that rest: what pages hold of them moves to memory outside the cache, then to disk,
// and comes back without being computed again, after a restart too.
//
//   Conversations rest(engine, {.folder = "/var/cache/strata"});
//   rest.park("user-7", tokens);            // a copy; the pages may be given to others now
//   rest.resume("user-7");                  // the next request with these tokens finds them
//
// What comes back is found as any beginning is: by its tokens. So a conversation that went on
// otherwise meanwhile uses what is equal and reads the rest.
//
// A file (parked.h) is written whole or not at all. It names the weights, the layout of pages and
// the class of processor that computed it: others' files are not used, since bits would differ.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"
#include "strata/engine/engine.h"
#include "strata/engine/parked.h"

namespace strata::engine {

class Conversations {
 public:
  struct Limits {
    /// Bytes in memory; the longest unused ones beyond go to disk, or are forgotten.
    std::int64_t memory = std::int64_t{1} << 30;
    /// The folder of files; empty: nowhere. Made when there is none.
    std::string folder = {};
    /// Bytes in that folder; the longest unused files beyond are removed.
    std::int64_t disk = std::int64_t{8} << 30;
  };
  /// The engine must outlive it. Throws Error for negative limits.
  Conversations(Engine& engine, Limits limits);

  /// Keeps a copy of what the cache has of the beginning of `tokens`, in place of what it kept
  /// under that name; where that is nothing, forgets the name. Fails where a file cannot be
  /// written.
  Status park(const std::string& name, std::span<const std::int32_t> tokens,
              std::string_view salt = {});
  /// Puts it back into the cache, as far as there are free pages: how many tokens can be found
  /// there. 0: nothing is kept under that name, or it was computed by others. Fails for a file that
  /// cannot be read or is damaged, which is removed.
  Result<std::int64_t> resume(const std::string& name);
  Status forget(const std::string& name);
  /// Writes what is in memory alone to disk: for who ends.
  Status flush();

  /// Bytes in memory and on disk.
  std::int64_t memory() const { return memory_; }
  std::int64_t disk() const { return disk_; }

 private:
  struct Kept {
    Parked parked;
    std::list<std::string>::iterator place;
    bool on_disk = false;
  };
  struct File {
    std::int64_t bytes = 0;
    std::int64_t used = 0;  // when, by a count
  };
  std::string file_of(const std::string& name) const;
  Status write(const std::string& name, const Parked& parked);
  Status remove_file(const std::string& file);
  Status make_room();
  void forget_copy(const std::string& name);

  Engine& engine_;
  Limits limits_;
  std::map<std::string, Kept> kept_;
  std::list<std::string> order_;  // the longest unused first
  std::map<std::string, File> files_;
  std::int64_t memory_ = 0, disk_ = 0, clock_ = 0;
};

}  // namespace strata::engine
