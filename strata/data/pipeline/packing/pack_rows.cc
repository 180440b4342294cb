#include "strata/data/pipeline/packing/pack_rows.h"

namespace strata::data::pipeline {
namespace {

Literal as_array(const Element& feature) {
  switch (feature.kind()) {
    case Element::Kind::boolean: return Literal::scalar(feature.boolean());
    case Element::Kind::integer: return Literal::scalar(feature.integer());
    case Element::Kind::real: return Literal::scalar(feature.real());
    case Element::Kind::array: return feature.array();
    default: throw Error("pack", "sequences are numbers or arrays, got {}", feature.to_string());
  }
}

/// The shape of an item of a sequence.
std::vector<std::int64_t> item_shape(const Shape& shape) {
  std::vector<std::int64_t> out;
  for (int i = 1; i < shape.rank(); ++i) out.push_back(shape[i]);
  return out;
}

}  // namespace

std::int64_t sequence_length(const Element& feature) {
  const Shape shape = feature.shape();
  return shape.rank() == 0 ? 1 : shape[0];
}

Literal sequence_buffer(const Element& feature, std::optional<std::int64_t> rows,
                        std::int64_t length, double padding) {
  const Literal x = as_array(feature);
  std::vector<std::int64_t> shape;
  if (rows) shape.push_back(*rows);
  shape.push_back(length);
  for (std::int64_t d : item_shape(x.shape())) shape.push_back(d);
  Literal out(Type(x.dtype(), Shape::of(shape)));
  if (padding != 0)
    for (std::int64_t i = 0; i < out.count(); ++i) out.set_number(i, padding);
  return out;
}

void put_sequence(Literal& buffer, std::int64_t row, std::int64_t at, const Element& feature,
                  std::int64_t begin, std::int64_t end) {
  const Literal x = as_array(feature);
  const bool scalar = x.shape().rank() == 0;
  std::int64_t item = 1;
  for (std::int64_t d : item_shape(x.shape())) item *= d;
  const std::int64_t length = scalar ? 1 : x.shape()[0];
  begin = std::clamp<std::int64_t>(begin, 0, length);
  end = std::clamp(end, begin, length);
  const int items = static_cast<int>(item_shape(x.shape()).size());
  const std::int64_t places = buffer.shape()[std::max(buffer.shape().rank() - 1 - items, 0)];
  if (x.dtype() != buffer.dtype() || at + end - begin > places)
    throw Error("pack", "sequences of a feature must have one dtype and item shape; got {} for {}",
                x.type().to_string(), buffer.type().to_string());
  const std::size_t width = x.count() == 0 ? 0 : x.bytes() / static_cast<std::size_t>(x.count());
  const auto bytes = static_cast<std::size_t>((end - begin) * item) * width;
  if (bytes == 0) return;
  std::memcpy(buffer.mutable_data() + static_cast<std::size_t>((row * places + at) * item) * width,
              x.data() + static_cast<std::size_t>(begin * item) * width, bytes);
}

Literal row_of(const Literal& array, std::int64_t row) {
  Literal out(Type(array.dtype(), Shape::of(item_shape(array.shape()))));
  if (out.bytes() > 0)
    std::memcpy(out.mutable_data(), array.data() + static_cast<std::size_t>(row) * out.bytes(),
                out.bytes());
  return out;
}

void check_lengths(const char* operation, const LengthStruct& lengths) {
  if (lengths.empty()) throw Error(operation, "length_struct has {} features", 0);
  for (const auto& [name, length] : lengths)
    if (length <= 0)
      throw Error(operation, "the length of {} is {}; allowed is 1 or more", name, length);
}

}  // namespace strata::data::pipeline
