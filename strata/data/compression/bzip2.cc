// bzip2 by libbz2.
#include <bzlib.h>

#include <algorithm>

#include "strata/data/compression/codec.h"

namespace strata::data {
namespace {

class Stream : public Codec {
 protected:
  template <class Work>
  Step run(std::string_view in, std::span<char> out, Work work) {
    constexpr std::size_t kMost = 1u << 30;
    z_.next_in = const_cast<char*>(in.data());
    z_.avail_in = static_cast<unsigned>(std::min(in.size(), kMost));
    z_.next_out = out.data();
    z_.avail_out = static_cast<unsigned>(std::min(out.size(), kMost));
    const unsigned had_in = z_.avail_in, had_out = z_.avail_out;
    work();
    return {had_in - z_.avail_in, had_out - z_.avail_out, false};
  }
  bz_stream z_{};
};

class Decoder : public Stream {
 public:
  Decoder() { STRATA_CHECK(BZ2_bzDecompressInit(&z_, 0, 0) == BZ_OK, "bzip2 begins"); }
  ~Decoder() override { BZ2_bzDecompressEnd(&z_); }
  Result<Step> step(std::string_view in, std::span<char> out, bool) override {
    int code = BZ_OK;
    Step step = run(in, out, [&] { code = BZ2_bzDecompress(&z_); });
    if (code != BZ_OK && code != BZ_STREAM_END)
      return Status(Code::corrupt, "bzip2 finds damaged data (code {})", code);
    step.ended = code == BZ_STREAM_END;
    return step;
  }
};

class Encoder : public Stream {
 public:
  Encoder() { STRATA_CHECK(BZ2_bzCompressInit(&z_, 9, 0, 0) == BZ_OK, "bzip2 begins"); }
  ~Encoder() override { BZ2_bzCompressEnd(&z_); }
  Result<Step> step(std::string_view in, std::span<char> out, bool last) override {
    if (in.empty() && !last) return Step{};
    int code = BZ_OK;
    Step step = run(in, out, [&] { code = BZ2_bzCompress(&z_, last ? BZ_FINISH : BZ_RUN); });
    step.ended = code == BZ_STREAM_END;
    return step;
  }
};

}  // namespace

std::unique_ptr<Codec> bzip2_decoder() { return std::make_unique<Decoder>(); }
std::unique_ptr<Codec> bzip2_encoder() { return std::make_unique<Encoder>(); }

}  // namespace strata::data
