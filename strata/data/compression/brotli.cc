// Brotli (RFC 7932) by libbrotli. A stream carries no checksum of its own.
#include <brotli/decode.h>
#include <brotli/encode.h>

#include "strata/data/compression/codec.h"

namespace strata::data {
namespace {

using Byte = std::uint8_t;

class Decoder : public Codec {
 public:
  ~Decoder() override { BrotliDecoderDestroyInstance(z_); }
  Result<Step> step(std::string_view in, std::span<char> out, bool) override {
    const auto* from = reinterpret_cast<const Byte*>(in.data());
    auto* to = reinterpret_cast<Byte*>(out.data());
    std::size_t in_left = in.size(), out_left = out.size();
    const auto code = BrotliDecoderDecompressStream(z_, &in_left, &from, &out_left, &to, nullptr);
    if (code == BROTLI_DECODER_RESULT_ERROR)
      return Status(Code::corrupt, "brotli says: {}",
                    BrotliDecoderErrorString(BrotliDecoderGetErrorCode(z_)));
    return Step{in.size() - in_left, out.size() - out_left, code == BROTLI_DECODER_RESULT_SUCCESS};
  }

 private:
  BrotliDecoderState* z_ = BrotliDecoderCreateInstance(nullptr, nullptr, nullptr);
};

class Encoder : public Codec {
 public:
  Encoder() { BrotliEncoderSetParameter(z_, BROTLI_PARAM_QUALITY, 6); }
  ~Encoder() override { BrotliEncoderDestroyInstance(z_); }
  Result<Step> step(std::string_view in, std::span<char> out, bool last) override {
    const auto* from = reinterpret_cast<const Byte*>(in.data());
    auto* to = reinterpret_cast<Byte*>(out.data());
    std::size_t in_left = in.size(), out_left = out.size();
    if (!BrotliEncoderCompressStream(z_, last ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_PROCESS,
                                     &in_left, &from, &out_left, &to, nullptr))
      return Status(Code::io, "brotli cannot compress");
    return Step{in.size() - in_left, out.size() - out_left,
                BrotliEncoderIsFinished(z_) == BROTLI_TRUE};
  }

 private:
  BrotliEncoderState* z_ = BrotliEncoderCreateInstance(nullptr, nullptr, nullptr);
};

}  // namespace

std::unique_ptr<Codec> brotli_decoder() { return std::make_unique<Decoder>(); }
std::unique_ptr<Codec> brotli_encoder() { return std::make_unique<Encoder>(); }

}  // namespace strata::data
