// xz by liblzma: CRC-64 of each block is checked and written. Streams that want more than 256 MiB
// are refused.
#include <lzma.h>

#include "strata/data/compression/codec.h"

namespace strata::data {
namespace {

constexpr std::uint64_t kMemory = std::uint64_t{256} << 20;
constexpr std::uint32_t kPreset = 6;

class Stream : public Codec {
 public:
  Stream() = default;
  ~Stream() override { lzma_end(&z_); }
  Result<Step> step(std::string_view in, std::span<char> out, bool last) override {
    z_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    z_.avail_in = in.size();
    z_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    z_.avail_out = out.size();
    const lzma_ret code = lzma_code(&z_, last && finishes_ ? LZMA_FINISH : LZMA_RUN);
    if (code != LZMA_OK && code != LZMA_STREAM_END && code != LZMA_BUF_ERROR)
      return Status(Code::corrupt, "xz says: {}",
                    code == LZMA_MEMLIMIT_ERROR  ? "it wants too much memory"
                    : code == LZMA_FORMAT_ERROR  ? "not an xz stream"
                    : code == LZMA_OPTIONS_ERROR ? "options that this liblzma does not have"
                                                 : "damaged data");
    return Step{in.size() - z_.avail_in, out.size() - z_.avail_out, code == LZMA_STREAM_END};
  }

 protected:
  lzma_stream z_ = LZMA_STREAM_INIT;
  bool finishes_ = false;
};

class Decoder : public Stream {
 public:
  Decoder() { STRATA_CHECK(lzma_stream_decoder(&z_, kMemory, 0) == LZMA_OK, "xz begins"); }
};

class Encoder : public Stream {
 public:
  Encoder() {
    finishes_ = true;
    STRATA_CHECK(lzma_easy_encoder(&z_, kPreset, LZMA_CHECK_CRC64) == LZMA_OK, "xz begins");
  }
};

}  // namespace

std::unique_ptr<Codec> xz_decoder() { return std::make_unique<Decoder>(); }
std::unique_ptr<Codec> xz_encoder() { return std::make_unique<Encoder>(); }

}  // namespace strata::data
