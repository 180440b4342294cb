#include "strata/data/compression/block.h"

#include <brotli/encode.h>
#include <snappy.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "strata/data/compression/codec.h"
#include "strata/data/compression/zstd.h"

namespace strata::data {
namespace {

constexpr int kZstdLevel = 3, kBrotliQuality = 6;
/// No block of fewer bytes than size / kSnappyMost holds `size`.
constexpr std::uint64_t kSnappyMost = 64;
constexpr std::size_t kFirst = 65536;

Status corrupt(const std::string& name, const std::string& what) {
  return Status(Code::corrupt, "{}: {}", name, what);
}

Status unpack_snappy(std::string_view packed, std::uint64_t size, const std::string& name,
                     std::string& out) {
  std::size_t stated = 0;
  if (!snappy::GetUncompressedLength(packed.data(), packed.size(), &stated) || stated != size ||
      size / kSnappyMost > packed.size())
    return corrupt(name, "a snappy block of another size than is said beside it");
  const std::size_t had = out.size();
  out.resize(had + stated);
  if (snappy::RawUncompress(packed.data(), packed.size(), out.data() + had)) return {};
  out.resize(had);
  return corrupt(name, "a damaged snappy block");
}

Status unpack_stream(Codec& codec, std::string_view packed, std::uint64_t size,
                     const std::string& name, std::string& out) {
  const std::size_t begin = out.size();
  auto fail = [&](const std::string& what) {
    out.resize(begin);
    return corrupt(name, what);
  };
  bool ended = packed.empty();
  for (std::size_t have = 0; !ended;) {
    const std::uint64_t room = std::min<std::uint64_t>(size - have + 1, std::max(have, kFirst));
    out.resize(begin + have + room);
    auto step = codec.step(packed, std::span(out).subspan(begin + have), true);
    if (!step) return fail(step.status().message());
    packed.remove_prefix(step->in);
    have += step->out;
    out.resize(begin + have);
    ended = step->ended;
    if (have > size) return fail("a block that unpacks to more bytes than are said beside it");
    if (!ended && step->in == 0 && step->out == 0) return fail("a block that ends in the middle");
  }
  if (!packed.empty()) return fail("bytes behind the end of a compressed block");
  if (out.size() - begin != size)
    return fail(fmt::format("a block that unpacks to {} bytes, where {} are said",
                            out.size() - begin, size));
  return {};
}

/// A frame that states its size, and whose size is small enough to be reserved unread.
Status unpack_small_zstd(std::string_view packed, std::uint64_t size, const std::string& name,
                         std::string& out) {
  struct Free {
    void operator()(ZSTD_DCtx* z) const { ZSTD_freeDCtx(z); }
  };
  thread_local const std::unique_ptr<ZSTD_DCtx, Free> z(ZSTD_createDCtx());
  const std::size_t had = out.size();
  out.resize(had + size);
  const std::size_t n =
      ZSTD_decompressDCtx(z.get(), out.data() + had, size, packed.data(), packed.size());
  if (!ZSTD_isError(n) && n == size) return {};
  out.resize(had);
  return corrupt(name, fmt::format("zstd says: {}",
                                   ZSTD_isError(n) ? ZSTD_getErrorName(n) : "a frame cut short"));
}

bool is_small_zstd(std::string_view packed, std::uint64_t size) {
  return size <= kFirst && ZSTD_getFrameContentSize(packed.data(), packed.size()) == size &&
         ZSTD_findFrameCompressedSize(packed.data(), packed.size()) == packed.size();
}

}  // namespace

void pack_block(BlockCompression how, std::string_view bytes, std::string& out) {
  const std::size_t had = out.size();
  std::size_t n = 0;
  switch (how) {
    case BlockCompression::none: out += bytes; return;
    case BlockCompression::snappy:
      out.resize(had + snappy::MaxCompressedLength(bytes.size()));
      snappy::RawCompress(bytes.data(), bytes.size(), out.data() + had, &n);
      break;
    case BlockCompression::zstd:
      out.resize(had + ZSTD_compressBound(bytes.size()));
      n = ZSTD_compress(out.data() + had, out.size() - had, bytes.data(), bytes.size(), kZstdLevel);
      STRATA_CHECK(!ZSTD_isError(n), "zstd packs what has room: {}", ZSTD_getErrorName(n));
      break;
    case BlockCompression::brotli:
      n = BrotliEncoderMaxCompressedSize(bytes.size());
      out.resize(had + n);
      STRATA_CHECK(
          BrotliEncoderCompress(kBrotliQuality, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_GENERIC,
                                bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                &n, reinterpret_cast<std::uint8_t*>(out.data() + had)),
          "brotli packs what has room");
      break;
  }
  out.resize(had + n);
}

Status unpack_block(BlockCompression how, std::string_view packed, std::uint64_t size,
                    const std::string& name, std::string& out) {
  if (how == BlockCompression::snappy) return unpack_snappy(packed, size, name, out);
  if (how == BlockCompression::zstd && is_small_zstd(packed, size))
    return unpack_small_zstd(packed, size, name, out);
  if (how != BlockCompression::none) {
    if (how == BlockCompression::zstd)
      return unpack_stream(zstd_decoder_of_thread(), packed, size, name, out);
    return unpack_stream(*brotli_decoder(), packed, size, name, out);
  }
  if (packed.size() != size)
    return corrupt(name, fmt::format("{} bytes, where {} are said", packed.size(), size));
  out += packed;
  return {};
}

std::int64_t stated_size(BlockCompression how, std::string_view packed) {
  if (how == BlockCompression::none) return std::ssize(packed);
  if (how == BlockCompression::snappy) {
    std::size_t n = 0;
    const bool ok = snappy::GetUncompressedLength(packed.data(), packed.size(), &n);
    return ok ? static_cast<std::int64_t>(n) : -1;
  }
  if (how != BlockCompression::zstd) return -1;
  const auto n = ZSTD_getFrameContentSize(packed.data(), packed.size());
  return n == ZSTD_CONTENTSIZE_UNKNOWN || n == ZSTD_CONTENTSIZE_ERROR ||
                 n > (std::uint64_t{1} << 62)
             ? -1
             : static_cast<std::int64_t>(n);
}

}  // namespace strata::data
