// libFuzzer target: bytes are read as PNG or JPEG within small limits; what is read is written as
// PNG and read again the same.
//
//   tools/fuzz.sh strata/image/image_fuzz.cc strata/image/testdata -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "strata/image/image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata::image;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto image = decode_image(bytes, "fuzz", {.pixels = 1 << 16});
  if (!image) return 0;
  auto again = decode_image(encode_png(*image, 1).value(), "again");
  if (!again || again->bytes() != image->bytes() ||
      std::memcmp(again->data(), image->data(), image->bytes()) != 0)
    std::abort();
  return 0;
}
