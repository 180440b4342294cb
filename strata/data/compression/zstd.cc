// Zstandard (RFC 8878) by libzstd; frames are written with their checksum. Windows of more than
// 128 MiB are refused, as the library does by default.
#include "strata/data/compression/zstd.h"

#include <zstd.h>

#include "strata/base/check.h"
#include "strata/data/compression/codec.h"

namespace strata::data {
namespace {

class Decoder : public Codec {
 public:
  ~Decoder() override { ZSTD_freeDStream(z_); }
  void restart() { ZSTD_DCtx_reset(z_, ZSTD_reset_session_only); }
  std::size_t bytes() const { return ZSTD_sizeof_DStream(z_); }
  Result<Step> step(std::string_view in, std::span<char> out, bool) override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t code = ZSTD_decompressStream(z_, &to, &from);
    if (ZSTD_isError(code)) return Status(Code::corrupt, "zstd says: {}", ZSTD_getErrorName(code));
    return Step{from.pos, to.pos, code == 0};
  }

 private:
  ZSTD_DStream* z_ = ZSTD_createDStream();
};

class Encoder : public Codec {
 public:
  Encoder() { ZSTD_CCtx_setParameter(z_, ZSTD_c_checksumFlag, 1); }
  ~Encoder() override { ZSTD_freeCCtx(z_); }
  Result<Step> step(std::string_view in, std::span<char> out, bool last) override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t code =
        ZSTD_compressStream2(z_, &to, &from, last ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(code)) return Status(Code::io, "zstd says: {}", ZSTD_getErrorName(code));
    return Step{from.pos, to.pos, last && code == 0};
  }

 private:
  ZSTD_CCtx* z_ = ZSTD_createCCtx();
};

}  // namespace

std::unique_ptr<Codec> zstd_decoder() { return std::make_unique<Decoder>(); }
std::unique_ptr<Codec> zstd_encoder() { return std::make_unique<Encoder>(); }

Codec& zstd_decoder_of_thread() {
  constexpr std::size_t kKept = std::size_t{4} << 20;
  thread_local std::unique_ptr<Decoder> kept;
  if (!kept || kept->bytes() > kKept) kept = std::make_unique<Decoder>();
  kept->restart();
  return *kept;
}

std::optional<std::string_view> zstd_stored(std::string_view frame) {
  // RFC 8878: magic, descriptor of a single segment (flag 32; 64: a size of two bytes from 256 on),
  // the size, the header of the last block, stored (1), and its bytes.
  constexpr std::size_t kMagic = 4, kBlockHeader = 3;
  constexpr std::string_view kStart("\x28\xb5\x2f\xfd", kMagic);
  const auto byte = [&](std::size_t i) {
    return std::size_t{static_cast<unsigned char>(frame[i])};
  };
  if (frame.size() < kMagic + 2 + kBlockHeader || !frame.starts_with(kStart)) return std::nullopt;
  if (byte(4) != 0x20 && byte(4) != 0x60) return std::nullopt;
  const bool two = byte(4) == 0x60;
  const std::size_t size = two ? (byte(5) | byte(6) << 8) + 256 : byte(5);
  const std::size_t block = kMagic + (two ? 3 : 2);
  if (frame.size() != block + kBlockHeader + size) return std::nullopt;
  const std::size_t header = byte(block) | byte(block + 1) << 8 | byte(block + 2) << 16;
  if (header != (size << 3 | 1)) return std::nullopt;
  return frame.substr(block + kBlockHeader);
}

std::string zstd_frame(std::string_view bytes, int level) {
  ZSTD_CCtx* z = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, level);
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress2(z, out.data(), out.size(), bytes.data(), bytes.size());
  ZSTD_freeCCtx(z);
  STRATA_CHECK(!ZSTD_isError(size), "zstd says: {}", ZSTD_getErrorName(size));
  out.resize(size);
  return out;
}

bool zstd_unpack_to(std::string_view frames, std::span<char> to) {
  const std::size_t size = ZSTD_decompress(to.data(), to.size(), frames.data(), frames.size());
  return !ZSTD_isError(size) && size == to.size();
}

}  // namespace strata::data
