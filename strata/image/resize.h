// Pictures of another size, bit for bit as Pillow's Image.resize.
//
//   Literal small = resize_image(image, 224, 224, ImageFilter::bicubic).value();
//
// Source: python-pillow/Pillow 12.0, src/libImaging/{Resample,Geometry}.c (13 sums columns before
// rows for some sizes, which differs by one). Bilinear and bicubic widen
// with the scale (antialiasing), along rows first, then along columns, each rounded to a byte; a
// picture with alpha is multiplied by it before and divided after.
#pragma once

#include <cstdint>

#include "strata/base/result.h"
#include "strata/type/literal.h"

namespace strata::image {

enum class ImageFilter : std::uint8_t { nearest, bilinear, bicubic };

/// ui8 of the same rank and channels. Code::invalid for other dtypes and for sizes below 1.
Result<Literal> resize_image(const Literal& image, std::int64_t height, std::int64_t width,
                             ImageFilter filter);

}  // namespace strata::image
