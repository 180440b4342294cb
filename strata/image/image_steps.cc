#include "strata/image/image_steps.h"

#include "strata/base/error.h"

namespace strata::image {
namespace {

using data::Element;
using Work = Result<Element> (*)(const Element&, const ImageStepOptions&);

Result<Element> decode(const Element& e, const ImageStepOptions& o) {
  auto image = decode_image(e.view(), o.member.empty() ? "picture" : o.member, o.limits);
  return image ? Result<Element>(Element(std::move(*image))) : image.status();
}

Result<Element> resize(const Element& e, const ImageStepOptions& o) {
  auto image = resize_image(e.array(), o.height, o.width, o.filter);
  return image ? Result<Element>(Element(std::move(*image))) : image.status();
}

Result<Element> to_bytes(Result<std::string> bytes) {
  return bytes ? Result<Element>(Element::bytes(std::move(*bytes))) : bytes.status();
}

constexpr ImageStepName kNames[] = {
    {"decode_image", "PNG or JPEG to an array"},
    {"encode_jpeg", "an array to JPEG"},
    {"encode_png", "an array to PNG"},
    {"resize_image", "an array to one of height and width"},
};
constexpr Work kWork[] = {
    decode,
    [](const Element& e, const ImageStepOptions& o) {
      return to_bytes(encode_jpeg(e.array(), o.quality));
    },
    [](const Element& e, const ImageStepOptions&) { return to_bytes(encode_png(e.array())); },
    resize,
};

}  // namespace

std::span<const ImageStepName> image_steps() { return kNames; }

Result<std::function<Element(const Element&)>> image_step(const std::string& name,
                                                          const ImageStepOptions& options) {
  std::string names;
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i].name == name)
      return std::function<Element(const Element&)>([work = kWork[i], options](const Element& e) {
        if (e.is_none()) return e;
        if (options.member.empty()) return work(e, options).value();
        Element out = e;
        out.set(options.member, work(e.at(options.member), options).value());
        return out;
      });
    names += (i > 0 ? ", " : "") + std::string(kNames[i].name);
  }
  return Status(Code::invalid, "no step {} of pictures; there are {}", name, names);
}

Result<ImageFilter> image_filter_named(std::string_view name) {
  if (name == "nearest") return ImageFilter::nearest;
  if (name == "bilinear") return ImageFilter::bilinear;
  if (name == "bicubic") return ImageFilter::bicubic;
  return Status(Code::invalid, "a filter is nearest, bilinear or bicubic, not {}", name);
}

}  // namespace strata::image
