// gzip (RFC 1952) and zlib (RFC 1950) by zlib. A file may hold several gzip members.
#include <zlib.h>

#include <algorithm>
#include <limits>

#include "strata/data/compression/codec.h"

namespace strata::data {
namespace {

constexpr int kZlib = 15, kGzip = 15 + 16;

uInt bounded(std::size_t n) {
  return static_cast<uInt>(std::min<std::size_t>(n, std::numeric_limits<uInt>::max()));
}

class Stream : public Codec {
 protected:
  template <class Work>
  Codec::Step run(std::string_view in, std::span<char> out, Work work) {
    z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    z_.avail_in = bounded(in.size());
    z_.next_out = reinterpret_cast<Bytef*>(out.data());
    z_.avail_out = bounded(out.size());
    const uInt had_in = z_.avail_in, had_out = z_.avail_out;
    work();
    return {had_in - z_.avail_in, had_out - z_.avail_out, false};
  }
  z_stream z_{};
};

class Inflate : public Stream {
 public:
  explicit Inflate(int bits) { STRATA_CHECK(inflateInit2(&z_, bits) == Z_OK, "zlib begins"); }
  ~Inflate() override { inflateEnd(&z_); }
  Result<Step> step(std::string_view in, std::span<char> out, bool) override {
    int code = Z_OK;
    Step step = run(in, out, [&] { code = inflate(&z_, Z_NO_FLUSH); });
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
      return Status(Code::corrupt, "zlib says: {}", z_.msg ? z_.msg : zError(code));
    step.ended = code == Z_STREAM_END;
    return step;
  }
};

class Deflate : public Stream {
 public:
  explicit Deflate(int bits) {
    STRATA_CHECK(deflateInit2(&z_, 6, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY) == Z_OK,
                 "zlib begins");
  }
  ~Deflate() override { deflateEnd(&z_); }
  Result<Step> step(std::string_view in, std::span<char> out, bool last) override {
    int code = Z_OK;
    Step step = run(in, out, [&] { code = deflate(&z_, last ? Z_FINISH : Z_NO_FLUSH); });
    step.ended = code == Z_STREAM_END;
    return step;
  }
};

}  // namespace

std::unique_ptr<Codec> gzip_decoder() { return std::make_unique<Inflate>(kGzip); }
std::unique_ptr<Codec> gzip_encoder() { return std::make_unique<Deflate>(kGzip); }
std::unique_ptr<Codec> zlib_decoder() { return std::make_unique<Inflate>(kZlib); }
std::unique_ptr<Codec> zlib_encoder() { return std::make_unique<Deflate>(kZlib); }

}  // namespace strata::data
