// Compressions of whole streams: brotli, bzip2, gzip, xz, zlib and zstd: a table of them and one
// interface.
//
//   const Compression* c = compression_of(first_bytes);   // by how they begin; null for plain
//   bytes auto codec = c->decoder(); auto step = codec->step(in, out, last);
//
// A new compression is a file beside this one and a row in codec.cc.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "strata/base/result.h"

namespace strata::data {

/// A stream in one direction: compresses or decompresses, a piece at a time.
class Codec {
 public:
  virtual ~Codec() = default;
  /// What a step did: bytes taken of `in` and put to `out`; `ended` when the stream is complete.
  struct Step {
    std::size_t in = 0, out = 0;
    bool ended = false;
  };
  /// Takes of `in` and puts to `out` what it can. `last`: nothing follows `in`. Code::corrupt for
  /// bytes that are no such stream, checksums of the stream among them; messages say what.
  virtual Result<Step> step(std::string_view in, std::span<char> out, bool last) = 0;
};

struct Compression {
  /// As users name it: "brotli", "bzip2", "gzip", "xz", "zlib", "zstd".
  std::string_view name;
  /// How names of such files end (".gz"); empty where they have no ending of their own.
  std::string_view ending;
  /// How streams begin; empty where that tells too little.
  std::string_view magic;
  std::unique_ptr<Codec> (*decoder)();
  std::unique_ptr<Codec> (*encoder)();
};

/// All of them, in the order of their names.
std::span<const Compression> compressions();
/// By how a stream begins, by the ending of a file's name, by its own name; null for none.
const Compression* compression_of(std::string_view beginning);
const Compression* compression_of_path(std::string_view path);
const Compression* compression_named(std::string_view name);

std::unique_ptr<Codec> brotli_decoder();
std::unique_ptr<Codec> brotli_encoder();
std::unique_ptr<Codec> bzip2_decoder();
std::unique_ptr<Codec> bzip2_encoder();
std::unique_ptr<Codec> gzip_decoder();
std::unique_ptr<Codec> gzip_encoder();
std::unique_ptr<Codec> xz_decoder();
std::unique_ptr<Codec> xz_encoder();
std::unique_ptr<Codec> zlib_decoder();
std::unique_ptr<Codec> zlib_encoder();
std::unique_ptr<Codec> zstd_decoder();
std::unique_ptr<Codec> zstd_encoder();

}  // namespace strata::data
