// Work on pictures as steps of a pipeline, by name.
//
//   auto decode = image_step("decode_image", {.member = "jpg"}).value();
//   auto small = image_step("resize_image", {.member = "jpg", .height = 224, .width =
//   224}).value(); auto pictures = web_dataset.map(decode).map(small);
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "strata/base/result.h"
#include "strata/data/element.h"
#include "strata/image/image.h"
#include "strata/image/resize.h"

namespace strata::image {

/// What a step may be told; each takes what it needs.
struct ImageStepOptions {
  /// The member of a record that is the picture; empty where the element itself is.
  std::string member;
  std::int64_t height = 0, width = 0;
  ImageFilter filter = ImageFilter::bilinear;
  /// JPEG's.
  int quality = 75;
  ImageLimits limits = {};
};

struct ImageStepName {
  std::string_view name, summary;
};
/// decode_image (bytes to an array), resize_image, encode_png, encode_jpeg (an array to bytes).
std::span<const ImageStepName> image_steps();

/// A function for `map`. Elements that are none pass through. Code::invalid for an unknown name;
/// the function throws Error for a picture that cannot be read.
Result<std::function<data::Element(const data::Element&)>> image_step(
    const std::string& name, const ImageStepOptions& options);

/// The filter of "nearest", "bilinear" or "bicubic".
Result<ImageFilter> image_filter_named(std::string_view name);

}  // namespace strata::image
