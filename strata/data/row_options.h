// How texts are read for a row of tokens. Private to this room.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace strata::data {

struct RowOptions {
  std::string column;
  std::string cache_folder;
  /// The tokens of texts that were not used for longest go when the folder holds more than this.
  std::int64_t cache_bytes = std::int64_t{4} << 30;
  /// Texts of a source up to so many bytes are held and encoded in memory; larger ones are streamed
  /// to a file of tokens. The tokens are the same.
  std::int64_t memory_bytes = std::int64_t{32} << 20;
  /// Called with what is being done, again and again.
  std::function<void(const std::string&)> progress = [](const std::string&) {};
  /// Called with what took a second or more, once it is done, and with what went wrong without
  /// harm.
  std::function<void(const std::string&)> note = [](const std::string&) {};
};

}  // namespace strata::data
