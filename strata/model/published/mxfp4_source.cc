#include "strata/model/published/mxfp4_source.h"

#include <array>
#include <cmath>

namespace strata::model::published {

namespace {

using Sizes = std::vector<std::int64_t>;

constexpr std::array<float, 16> kElements = {0,     0.5f,  1,  1.5f,  2,  3,  4,  6,
                                             -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};

class Mxfp4Source : public TensorSource {
 public:
  explicit Mxfp4Source(const TensorSource& from) : from_(from), shapes_(from.shapes()) {
    const std::string ending = "_blocks";
    for (const auto& [name, blocks] : from_.shapes()) {
      if (!name.ends_with(ending)) continue;
      const std::string whole = name.substr(0, name.size() - ending.size());
      const auto scales = from_.shapes().find(whole + "_scales");
      if (scales == from_.shapes().end() || blocks.size() != 4 || blocks[3] != 16 ||
          scales->second != Sizes(blocks.begin(), blocks.end() - 1))
        continue;
      shapes_.erase(name);
      shapes_.erase(scales->first);
      shapes_[whole] = {blocks[0], blocks[2] * 32, blocks[1]};
      packed_[whole] = blocks;
    }
  }
  Convention convention() const override { return from_.convention(); }
  const std::map<std::string, Sizes>& shapes() const override { return shapes_; }
  Result<Literal> read(const std::string& name) const override {
    const auto it = packed_.find(name);
    return it == packed_.end() ? from_.read(name) : unpacked(name, it->second);
  }
  std::optional<BlockFormat> packed(const std::string& name) const override {
    return packed_.contains(name) ? std::nullopt : from_.packed(name);
  }
  Result<Literal> read_packed(const std::string& name) const override {
    return from_.read_packed(name);
  }
  const std::string& name() const override { return from_.name(); }

 private:
  Result<Literal> unpacked(const std::string& name, const Sizes& shape) const {
    const Result<Literal> blocks = from_.read(name + "_blocks"),
                          scales = from_.read(name + "_scales");
    if (!blocks) return blocks.status();
    if (!scales) return scales.status();
    if (blocks->dtype() != DType::ui8 || scales->dtype() != DType::ui8)
      return Status(Code::unsupported, "{}: blocks of '{}' are {} and their scales {}, not ui8",
                    from_.name(), name, strata::name(blocks->dtype()),
                    strata::name(scales->dtype()));
    const std::int64_t experts = shape[0], rows = shape[1], groups = shape[2], in = groups * 32;
    Literal out(Type(DType::f32, Shape({experts, in, rows})));
    auto* to = reinterpret_cast<float*>(out.mutable_data());
    const auto* block = reinterpret_cast<const std::uint8_t*>(blocks->data());
    const auto* scale = reinterpret_cast<const std::uint8_t*>(scales->data());
    for (std::int64_t e = 0; e < experts; ++e, to += in * rows)
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t g = 0; g < groups; ++g, block += 16) {
          const int exponent = static_cast<int>(*scale++) - 127;
          for (std::int64_t j = 0; j < 16; ++j)
            for (std::int64_t half = 0; half < 2; ++half)
              to[(g * 32 + 2 * j + half) * rows + r] =
                  std::ldexp(kElements[block[j] >> (4 * half) & 15], exponent);
        }
    return out;
  }

  const TensorSource& from_;
  std::map<std::string, Sizes> shapes_;
  std::map<std::string, Sizes> packed_;  // shapes of blocks, by the name of what they stand for
};

}  // namespace

TensorSourcePtr without_mxfp4(const TensorSource& from) {
  return std::make_shared<Mxfp4Source>(from);
}

}  // namespace strata::model::published
