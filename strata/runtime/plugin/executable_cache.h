// Executables of plugins kept from one process to the next.
//
// A file is found by a hash of its key and holds the whole key, so that two never meet: the
// program, the compile options, the plugin's file (path, size, time of its last change), its
// version and the device's kind. It is written aside and renamed and carries a checksum; one that
// was cut short or damaged is removed, and so is one that the plugin does not take. What is there
// never matters for results: any file may go at any time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata::runtime::plugin {

class ExecutableCache {
 public:
  /// Files in this folder, which is made when first written to; "" keeps nothing. Where they are
  /// more than `max_bytes` together, those written first go.
  explicit ExecutableCache(std::string folder, std::int64_t max_bytes = std::int64_t{1} << 32);
  /// $STRATA_CACHE_DIR/plugins, else ~/.cache/strata/plugins. STRATA_CACHE_DIR set to nothing keeps
  /// nothing.
  static ExecutableCache standard();

  /// What was written under the key. A damaged file is removed.
  std::optional<std::string> read(std::string_view key) const;
  /// A failure to write is no failure: the program is compiled again next time.
  void write(std::string_view key, std::string_view executable) const;
  /// Forgets what was written under the key.
  void remove(std::string_view key) const;
  /// The path of the key's file; "" where nothing is kept.
  std::string path(std::string_view key) const;

 private:
  void shrink() const;
  std::string folder_;
  std::int64_t max_bytes_;
};

/// What a plugin's executables depend on besides program and options: the library's path, size and
/// time of its last change, and what the plugin says of itself.
std::string plugin_identity(const std::string& library, const std::string& version,
                            const std::string& device_kind);

}  // namespace strata::runtime::plugin
