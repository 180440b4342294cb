// PNG and JPEG files as arrays of pixels, and back.
//
//   Literal image = decode_image(bytes, "cat.jpg").value();     // ui8[height, width, channels]
//   std::string file = encode_png(image).value();
//
// Channels: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA. Palettes are resolved, fewer than 8 bits are
// widened; PNG's 16 bits become ui16. JPEG decodes as libjpeg-turbo does by default (the slow
// integer DCT, smooth upsampling), which is what Pillow gives. Orientation tags are not applied.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "strata/base/result.h"
#include "strata/type/literal.h"

namespace strata::image {

/// What a file may ask for.
struct ImageLimits {
  /// Height times width.
  std::int64_t pixels = std::int64_t{1} << 28;
};

/// Whether bytes begin as a PNG or JPEG file does.
bool is_image(std::string_view bytes);

/// Code::corrupt for a file that is damaged or ends early, Code::unsupported for other formats and
/// for JPEG in CMYK, Code::invalid beyond the limits. `where` begins messages.
Result<Literal> decode_image(std::string_view bytes, const std::string& where,
                             const ImageLimits& limits = {});

/// ui8 or ui16, rank 2 (grey) or 3 with 1 to 4 channels; Code::invalid for others. `level` is
/// zlib's, 0 to 9.
Result<std::string> encode_png(const Literal& image, int level = 6);
/// ui8 with 1 or 3 channels; quality 1 to 100, colour at half the resolution as Pillow does.
Result<std::string> encode_jpeg(const Literal& image, int quality = 75);

/// The readers of one format each, which `decode_image` chooses from.
Result<Literal> decode_png(std::string_view bytes, const std::string& where,
                           const ImageLimits& limits);
Result<Literal> decode_jpeg(std::string_view bytes, const std::string& where,
                            const ImageLimits& limits);

/// Height, width and channels of an array that is a picture; Code::invalid for others.
struct ImageSize {
  std::int64_t height = 0, width = 0, channels = 0;
};
Result<ImageSize> size_of_image(const Literal& image);

}  // namespace strata::image
