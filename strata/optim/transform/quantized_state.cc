#include "strata/optim/transform/quantized_state.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "strata/api/array.h"
#include "strata/base/check.h"
#include "strata/optim/registry.h"
#include "strata/optim/rule.h"

namespace strata::optim {

namespace {

constexpr int kExponents = 7;
/// The largest finite f8E4M3FN.
constexpr double kLargestFp8 = 448.0;
constexpr double kLeastScale = 1e-12;

std::array<float, 256> made_map(bool is_signed) {
  std::vector<double> values{0.0, 1.0};
  for (int i = 0; i < kExponents; ++i) {
    const int parts = is_signed ? 1 << i : 1 << (i + 1);
    const double power = std::pow(10.0, i - (kExponents - 1)), width = 0.9 / parts;
    for (int j = 0; j < parts; ++j) {
      const double middle = power * (0.1 + (j + 0.5) * width);
      values.push_back(middle);
      if (is_signed) values.push_back(-middle);
    }
  }
  std::sort(values.begin(), values.end());
  std::array<float, 256> out{};
  STRATA_CHECK(values.size() == out.size(), "a map of 8 bits has 256 values, not {}",
               values.size());
  std::transform(values.begin(), values.end(), out.begin(),
                 [](double v) { return static_cast<float>(v); });
  return out;
}
Array map_array(bool is_signed) {
  const auto& map = dynamic_map(is_signed);
  return array(std::vector<float>(map.begin(), map.end()));
}

/// Elements in rows of a block each, f32; the last is filled with zeros.
Array rows(const Array& x, std::int64_t block_size) {
  const std::int64_t short_of = (block_size - x.size() % block_size) % block_size;
  const Array flat = numpy::ravel(numpy::astype(x, DType::f32));
  return numpy::reshape(short_of ? numpy::pad(flat, {{0, short_of}}) : flat, {-1, block_size});
}
Array from_rows(const Array& r, const Array& like) {
  return numpy::reshape(numpy::ravel(r)[slice(0, like.size())], like.shape().sizes());
}

/// The place of the nearest value of the map, of the upper one in the middle.
Array nearest(const Array& x, bool is_signed) {
  const Array map = map_array(is_signed);
  const Array above = numpy::searchsorted(map, x, "right");
  const Array down = numpy::maximum(above - 1, 0), up = numpy::minimum(down + 1, 255);
  const Array low = numpy::take(map, down), high = numpy::take(map, up);
  return numpy::where(x - low >= (high - low) * 0.5, up, down);
}

StateFormat format_of(const std::string& name) {
  if (name == "dynamic") return StateFormat::dynamic;
  if (name == "linear") return StateFormat::linear;
  if (name == "fp8") return StateFormat::fp8;
  throw Error("quantized_state", "format is dynamic, linear or fp8, got {}", name);
}

/// Encodes and decodes the fields of a state.
class Codec {
 public:
  explicit Codec(const QuantizedStateOptions& o)
      : format_(format_of(o.format)),
        block_size_(o.block_size),
        min_size_(o.min_size),
        signed_(o.signed_fields.begin(), o.signed_fields.end()),
        unsigned_(o.unsigned_fields.begin(), o.unsigned_fields.end()) {
    if (block_size_ < 1)
      throw Error("quantized_state", "block_size is an element or more, got {}", block_size_);
  }
  /// Whether the state has a field that is meant, of any size.
  bool knows(const Tree& state) const {
    return std::any_of(state.entries().begin(), state.entries().end(),
                       [&](const tree::Entry& e) { return sign_of(e.path).has_value(); });
  }
  Tree encoded(const Tree& state) const {
    std::vector<tree::Entry> entries;
    std::vector<Array> values;
    for (std::size_t i = 0; i < state.size(); ++i) {
      const tree::Entry& e = state.entry(i);
      const Array& x = state.value(i);
      const std::optional<bool> sign = sign_of(e.path);
      if (!sign || !is_float(x.dtype()) || x.size() < min_size_) {
        entries.push_back(e);
        values.push_back(x);
        continue;
      }
      QuantizedBlocks blocks = quantize_blocks(x, format_, *sign, block_size_);
      entries.push_back(inside(e, "codes"));
      values.push_back(std::move(blocks.codes));
      entries.push_back(inside(e, "scales"));
      values.push_back(std::move(blocks.scales));
    }
    return Tree(std::move(entries), std::move(values));
  }
  Tree decoded(const Tree& state) const {
    std::vector<tree::Entry> entries;
    std::vector<Array> values;
    for (std::size_t i = 0; i < state.size(); ++i) {
      const tree::Entry& e = state.entry(i);
      if (partner(state, e, "scales", "codes")) continue;
      const std::optional<std::size_t> scales = partner(state, e, "codes", "scales");
      if (!scales) {
        entries.push_back(e);
        values.push_back(state.value(i));
        continue;
      }
      const tree::KeyPath path(e.path.begin(), e.path.end() - 1);
      entries.emplace_back(path, *e.kind, e.metadata);
      values.push_back(dequantize_blocks({state.value(i), state.value(*scales)}, format_,
                                         *sign_of(path), block_size_));
    }
    return Tree(std::move(entries), std::move(values));
  }

 private:
  static tree::Entry inside(const tree::Entry& e, const char* name) {
    tree::KeyPath path = e.path;
    path.push_back(tree::parse_path(name).front());
    return tree::Entry(std::move(path), *e.kind, e.metadata);
  }
  /// The leaf beside one called `own` in an encoded field, called `other`; nothing elsewhere.
  std::optional<std::size_t> partner(const Tree& state, const tree::Entry& e, const char* own,
                                     const char* other) const {
    if (e.path.size() < 2 || tree::key_text(e.path.back()) != own || !sign_of(e.path))
      return std::nullopt;
    return state.find(e.name.substr(0, e.name.rfind('/') + 1) + other);
  }
  /// Whether a field of any sign is meant; nothing where none is.
  std::optional<bool> sign_of(const tree::KeyPath& path) const {
    for (const tree::KeyEntry& key : path) {
      if (signed_.contains(tree::key_text(key))) return true;
      if (unsigned_.contains(tree::key_text(key))) return false;
    }
    return std::nullopt;
  }

  StateFormat format_;
  std::int64_t block_size_, min_size_;
  std::set<std::string> signed_, unsigned_;
};

}  // namespace

const std::array<float, 256>& dynamic_map(bool is_signed) {
  static const std::array<float, 256> of_signed = made_map(true), of_unsigned = made_map(false);
  return is_signed ? of_signed : of_unsigned;
}

QuantizedBlocks quantize_blocks(const Array& x, StateFormat format, bool is_signed,
                                std::int64_t block_size) {
  if (block_size < 1)
    throw Error("quantize_blocks", "block_size is an element or more, got {}", block_size);
  const Array r = rows(x, block_size);
  const Array largest = numpy::max(numpy::abs(r), {.axis = 1, .keepdims = true});
  const Array flat = numpy::ravel(largest);
  switch (format) {
    case StateFormat::fp8: {
      const Array scale = largest / kLargestFp8;
      return {from_rows(numpy::astype(r / numpy::maximum(scale, kLeastScale), DType::f8E4M3FN), x),
              flat / kLargestFp8};
    }
    case StateFormat::linear: {
      const Array part = r / numpy::maximum(largest, kLeastScale);
      const Array codes =
          is_signed ? numpy::round(part * 127.0) + 128.0 : numpy::round(part * 255.0);
      return {from_rows(numpy::astype(codes, DType::ui8), x), flat};
    }
    case StateFormat::dynamic: break;
  }
  const Array part = r / numpy::maximum(largest, kLeastScale);
  return {from_rows(numpy::astype(nearest(part, is_signed), DType::ui8), x), flat};
}
Array dequantize_blocks(const QuantizedBlocks& blocks, StateFormat format, bool is_signed,
                        std::int64_t block_size) {
  const Array scales = numpy::expand_dims(blocks.scales, 1);
  Array parts;
  if (format == StateFormat::dynamic) {
    const Array codes = numpy::astype(blocks.codes, DType::i32);
    parts = rows(numpy::take(map_array(is_signed), codes), block_size);
  } else {
    parts = rows(blocks.codes, block_size);
    if (format == StateFormat::linear) parts = is_signed ? (parts - 128.0) / 127.0 : parts / 255.0;
  }
  return from_rows(parts * scales, blocks.codes);
}

GradientTransformation quantized_state(GradientTransformation inner, QuantizedStateOptions o) {
  const auto codec = std::make_shared<const Codec>(o);
  std::string options = detail::text_of_options(o);
  if (!options.empty()) options = ", " + options;
  return detail::rule(
      "quantized_state(" + inner.text() + options + ")", inner.rule().needs(),
      [=](const Tree& params) {
        const Tree state = inner.init(params);
        if (!params.empty() && !codec->knows(state))
          throw Error("quantized_state",
                      "the state of {} has none of the fields that are to be encoded",
                      inner.text());
        return codec->encoded(state);
      },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra& extra) {
        auto [out, next] = inner.update(u, codec->decoded(s), params, extra);
        return std::pair(std::move(out), codec->encoded(next));
      });
}

namespace detail {
void add_quantized_state(Rules& r) {
  r.add("quantized_state", {"inner"}, &quantized_state, "Dettmers et al. (2022)",
        "A transformation whose moments are held in 8 bits, with a scale for each block.");
}
}  // namespace detail

}  // namespace strata::optim
