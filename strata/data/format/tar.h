// Tar archives as streams: regular files with their names, in order.
//
// Source: POSIX.1-2001, pax interchange format; GNU long names; numbers in base 256. Headers'
// checksums are verified; the format has none for contents.
#pragma once

#include <string>
#include <string_view>

#include "strata/data/compression/stream.h"

namespace strata::data {

class TarReader {
 public:
  explicit TarReader(Input input) : input_(std::move(input)) {}
  struct Member {
    std::string name;
    std::string_view bytes;  // live until the next call
  };
  /// The next regular file; false at the end. Code::corrupt ends it.
  Result<bool> next(Member& out);
  const Input& input() const { return input_; }

 private:
  Result<bool> next_member(Member& out);
  Input input_;
  bool ended_ = false;
};

/// Owner, group and time are those webdataset writes when it is told mtime=0, user="u", group="g",
/// so equal contents give equal bytes.
class TarWriter {
 public:
  explicit TarWriter(Output output) : output_(std::move(output)) {}
  Status add(const std::string& name, std::string_view bytes);
  Status close();

 private:
  Status add(char type, const std::string& name, std::string_view bytes);
  Output output_;
};

}  // namespace strata::data
