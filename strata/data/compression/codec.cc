#include "strata/data/compression/codec.h"

namespace strata::data {
namespace {

using namespace std::string_view_literals;

constexpr Compression kCompressions[] = {
    {"brotli", ".br", "", brotli_decoder, brotli_encoder},
    {"bzip2", ".bz2", "BZh"sv, bzip2_decoder, bzip2_encoder},
    {"gzip", ".gz", "\x1f\x8b"sv, gzip_decoder, gzip_encoder},
    {"xz", ".xz", "\xfd\x37zXZ\0"sv, xz_decoder, xz_encoder},
    {"zlib", "", "", zlib_decoder, zlib_encoder},
    {"zstd", ".zst", "\x28\xb5\x2f\xfd"sv, zstd_decoder, zstd_encoder},
};

template <class Predicate>
const Compression* first(Predicate is) {
  for (const Compression& c : kCompressions)
    if (is(c)) return &c;
  return nullptr;
}

}  // namespace

std::span<const Compression> compressions() { return kCompressions; }

const Compression* compression_of(std::string_view beginning) {
  return first(
      [&](const Compression& c) { return !c.magic.empty() && beginning.starts_with(c.magic); });
}

const Compression* compression_of_path(std::string_view path) {
  if (path.ends_with(".zstd")) return compression_named("zstd");
  return first([&](const Compression& c) { return !c.ending.empty() && path.ends_with(c.ending); });
}

const Compression* compression_named(std::string_view name) {
  return first([&](const Compression& c) { return c.name == name; });
}

}  // namespace strata::data
