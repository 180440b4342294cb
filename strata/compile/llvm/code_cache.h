// Object files kept from one process to the next.
//
// A file is found by the digest of its key and holds the whole key, so two keys never meet; it is
// written aside and renamed, and carries a checksum, so that a file cut short or damaged is just
// not there. What is in the cache never matters for results: any file may go at any time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata::compile {

class CodeCache {
 public:
  /// The files in this folder, which is made when first written to; "" keeps nothing. Where they
  /// are more than `max_bytes` together, those not used for longest go.
  explicit CodeCache(std::string folder, std::int64_t max_bytes = std::int64_t{1} << 30);

  /// $STRATA_CACHE_DIR, else ~/.cache/strata. STRATA_CACHE_DIR set to nothing keeps nothing.
  static CodeCache& standard();

  std::optional<std::string> read(std::string_view key) const;
  /// A failure to write is no failure: the code is made again next time.
  void write(std::string_view key, std::string_view object);
  std::string path(std::string_view key) const;

 private:
  void shrink();

  std::string folder_;
  std::int64_t max_bytes_;
};

}  // namespace strata::compile
