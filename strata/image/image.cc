#include "strata/image/image.h"

namespace strata::image {
namespace {

constexpr std::string_view kPng = "\x89PNG\r\n\x1a\n", kJpeg = "\xff\xd8\xff";

}  // namespace

bool is_image(std::string_view bytes) {
  return bytes.starts_with(kPng) || bytes.starts_with(kJpeg);
}

Result<Literal> decode_image(std::string_view bytes, const std::string& where,
                             const ImageLimits& limits) {
  if (bytes.starts_with(kPng)) return decode_png(bytes, where, limits);
  if (bytes.starts_with(kJpeg)) return decode_jpeg(bytes, where, limits);
  return Status(Code::unsupported, "{}: neither PNG nor JPEG", where);
}

Result<ImageSize> size_of_image(const Literal& image) {
  const Shape& s = image.shape();
  const bool ranks = s.rank() == 2 || s.rank() == 3;
  ImageSize out;
  if (ranks) out = {s[0], s[1], s.rank() == 3 ? s[2] : 1};
  const bool dtypes = image.dtype() == DType::ui8 || image.dtype() == DType::ui16;
  if (!ranks || !dtypes || out.height < 1 || out.width < 1 || out.channels < 1 ||
      out.channels > 4 || out.height > INT32_MAX || out.width > INT32_MAX)
    return Status(Code::invalid,
                  "a picture is ui8 or ui16 [height, width] or [height, width, 1 to 4], not {}",
                  image.type().to_string());
  return out;
}

}  // namespace strata::image
