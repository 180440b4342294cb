// Literals that are larger than memory together: while a scope lives, large new ones are stored in
// nameless files that are mapped, whose pages the system writes out and forgets when it needs room.
//
//   {
//     LiteralsInFiles scope;
//     auto loaded = model::load("70b");      // weights are in TMPDIR, and leave it with the last
//     copy
//   }
#pragma once

#include <cstddef>
#include <memory>

namespace strata {

/// For literals that this thread makes. Scopes nest: the innermost counts. Where the folder for
/// temporary files (TMPDIR, /tmp) has no room or takes no such files, memory is used as ever.
class LiteralsInFiles {
 public:
  /// Of `least` bytes and more.
  explicit LiteralsInFiles(std::size_t least = std::size_t{1} << 20);
  ~LiteralsInFiles();
  LiteralsInFiles(const LiteralsInFiles&) = delete;
  LiteralsInFiles& operator=(const LiteralsInFiles&) = delete;

 private:
  std::size_t before_;
};

namespace internal {

/// Zero-filled bytes of a file; null outside of scopes, for fewer than `least`, and where there is
/// no room.
std::shared_ptr<std::byte[]> bytes_in_file(std::size_t bytes);

}  // namespace internal
}  // namespace strata
