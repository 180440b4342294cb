// Elements as Arrow's columns.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>

#include "strata/data/arrow/columns.h"
#include "strata/tokenizer/utf8.h"

namespace strata::data {
namespace {

constexpr std::int64_t kMostOffset = std::numeric_limits<std::int32_t>::max();

ArrowType number(DType dtype) { return {.kind = ArrowKind::number, .dtype = dtype}; }

std::string format_of(const ArrowType& t) {
  switch (t.kind) {
    case ArrowKind::null: return "n";
    case ArrowKind::boolean: return "b";
    case ArrowKind::text: return "u";
    case ArrowKind::bytes: return "z";
    case ArrowKind::list: return "+l";
    case ArrowKind::fixed_list: return fmt::format("+w:{}", t.size);
    case ArrowKind::structure: return "+s";
    default: break;
  }
  switch (t.dtype) {
    case DType::i8: return "c";
    case DType::ui8: return "C";
    case DType::i16: return "s";
    case DType::ui16: return "S";
    case DType::i32: return "i";
    case DType::ui32: return "I";
    case DType::i64: return "l";
    case DType::ui64: return "L";
    case DType::f16: return "e";
    case DType::f32: return "f";
    default: return "g";
  }
}

bool holds(DType dtype) {
  switch (dtype) {
    case DType::i1:
    case DType::i8:
    case DType::ui8:
    case DType::i16:
    case DType::ui16:
    case DType::i32:
    case DType::ui32:
    case DType::i64:
    case DType::ui64:
    case DType::f16:
    case DType::f32:
    case DType::f64: return true;
    default: return false;
  }
}

Status widen_with(ArrowType& type, const ArrowType& other);

/// A fixed list becomes one of any length.
void loosen(ArrowType& type) {
  if (type.kind == ArrowKind::fixed_list) type.kind = ArrowKind::list;
}

std::string words(const ArrowType& t) {
  switch (t.kind) {
    case ArrowKind::number: return std::string(name(t.dtype));
    case ArrowKind::boolean: return "a boolean";
    case ArrowKind::text: return "text";
    case ArrowKind::bytes: return "bytes";
    case ArrowKind::structure: return "a dict";
    case ArrowKind::null: return "nothing";
    default: return "a list";
  }
}

Status widen_with(ArrowType& type, const ArrowType& other) {
  if (other.kind == ArrowKind::null) return {};
  if (type.kind == ArrowKind::null) {
    std::string name = std::move(type.name);
    type = other;
    type.name = std::move(name);
    return {};
  }
  const bool lists = (type.kind == ArrowKind::list || type.kind == ArrowKind::fixed_list) &&
                     (other.kind == ArrowKind::list || other.kind == ArrowKind::fixed_list);
  if (lists) {
    if (type.kind != other.kind || type.size != other.size) loosen(type);
    return widen_with(type.parts[0], other.parts[0]);
  }
  if (type.kind == ArrowKind::number && other.kind == ArrowKind::number) {
    if (type.dtype == other.dtype) return {};
    const bool integers = is_integer(type.dtype) && is_integer(other.dtype);
    const bool beyond = type.dtype == DType::ui64 || other.dtype == DType::ui64;
    type.dtype = integers && !beyond ? DType::i64 : DType::f64;
    return {};
  }
  if (type.kind == other.kind && type.kind == ArrowKind::structure) {
    for (const ArrowType& part : other.parts) {
      const auto at = std::find_if(type.parts.begin(), type.parts.end(),
                                   [&](const ArrowType& t) { return t.name == part.name; });
      if (at == type.parts.end()) {
        type.parts.push_back(part);
      } else if (Status s = widen_with(*at, part); !s.ok()) {
        return Status(s.code(), "{}.{}", part.name, s.message());
      }
    }
    return {};
  }
  if (type.kind == other.kind) return {};
  const auto texts = [](const ArrowType& t) {
    return t.kind == ArrowKind::text || t.kind == ArrowKind::bytes;
  };
  if (texts(type) && texts(other)) return type.kind = ArrowKind::bytes, Status();
  return Status(Code::invalid, " one record has {}, another {}: a column has one type", words(type),
                words(other));
}

Result<ArrowType> type_of(const Element& e) {
  switch (e.kind()) {
    case Element::Kind::none: return ArrowType();
    case Element::Kind::boolean: return ArrowType{.kind = ArrowKind::boolean};
    case Element::Kind::integer: return number(DType::i64);
    case Element::Kind::real: return number(DType::f64);
    case Element::Kind::text: return ArrowType{.kind = ArrowKind::text};
    case Element::Kind::bytes: return ArrowType{.kind = ArrowKind::bytes};
    case Element::Kind::array: {
      const Literal& a = e.array();
      if (!holds(a.dtype()))
        return Status(Code::invalid, " Arrow has no numbers of type {}", name(a.dtype()));
      ArrowType out = number(a.dtype());
      if (a.dtype() == DType::i1) out = {.kind = ArrowKind::boolean};
      for (int d = a.shape().rank(); d-- > 0;)
        out = {.kind = d == 0 ? ArrowKind::list : ArrowKind::fixed_list,
               .size = d == 0 ? 0 : a.shape()[d],
               .parts = {out}};
      return out;
    }
    case Element::Kind::strings: {
      ArrowType out = {.kind = e.strings().is_text ? ArrowKind::text : ArrowKind::bytes};
      if (e.strings().shape.rank() != 1)
        return Status(Code::invalid, " arrays of texts have rank 1, not {}",
                      e.strings().shape.rank());
      return ArrowType{.kind = ArrowKind::list, .parts = {out}};
    }
    case Element::Kind::list:
    case Element::Kind::tuple: {
      ArrowType out = {.kind = ArrowKind::list, .parts = {ArrowType()}};
      for (const Element& item : e.items())
        if (Status s = widen(out.parts[0], item); !s.ok()) return s;
      return out;
    }
    case Element::Kind::dict: break;
  }
  ArrowType out = {.kind = ArrowKind::structure};
  for (const auto& [key, value] : e.fields()) {
    auto part = type_of(value);
    if (!part) return Status(part.status().code(), "{}.{}", key, part.status().message());
    part->name = key;
    out.parts.push_back(std::move(*part));
  }
  return out;
}

template <class T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// What an array of ours holds.
struct Held {
  std::array<std::string, 3> buffers;
  std::array<const void*, 3> places = {};
  std::vector<ArrowArray> parts;
  std::vector<ArrowArray*> part_places;
};

void release_array(ArrowArray* array) {
  auto* held = static_cast<Held*>(array->private_data);
  for (ArrowArray& part : held->parts)
    if (part.release) part.release(&part);
  delete held;
  array->release = nullptr;
}

struct HeldSchema {
  std::string format, name;
  std::vector<ArrowSchema> parts;
  std::vector<ArrowSchema*> part_places;
};

void release_schema(ArrowSchema* schema) {
  auto* held = static_cast<HeldSchema*>(schema->private_data);
  for (ArrowSchema& part : held->parts)
    if (part.release) part.release(&part);
  delete held;
  schema->release = nullptr;
}

/// A number into a buffer of another dtype; false where it is not the same there.
template <class From>
bool convert(From value, DType to, std::string& out) {
  const auto put = [&]<class To>(To) {
    const To converted = static_cast<To>(value);
    append(out, converted);
    return std::is_floating_point_v<To> ||
           (static_cast<From>(converted) == value && (converted < To{}) == (value < From{}));
  };
  switch (to) {
    case DType::i8: return put(std::int8_t{});
    case DType::ui8: return put(std::uint8_t{});
    case DType::i16: return put(std::int16_t{});
    case DType::ui16: return put(std::uint16_t{});
    case DType::i32: return put(std::int32_t{});
    case DType::ui32: return put(std::uint32_t{});
    case DType::i64: return put(std::int64_t{});
    case DType::ui64: return put(std::uint64_t{});
    case DType::f32: return put(float{});
    default: return put(double{});
  }
}

/// Element `at` of an array, as a number of the column's dtype.
bool convert_item(const Literal& a, std::int64_t at, DType to, std::string& out) {
  const std::byte* from = a.data() + static_cast<std::size_t>(at) * byte_width(a.dtype());
  if (a.dtype() == to) {
    out.append(reinterpret_cast<const char*>(from), byte_width(to));
    return true;
  }
  const auto as = [&]<class T>(T) {
    if constexpr (std::is_arithmetic_v<T>) {
      T value;
      std::memcpy(&value, from, sizeof value);
      // Real numbers never become integers.
      if (std::is_floating_point_v<T> && to != DType::f64 && to != DType::f32) return false;
      return convert(value, to, out);
    } else {
      return false;
    }
  };
  if (a.dtype() == DType::f16 && to == DType::f64) {
    Float16 value;
    std::memcpy(&value, from, sizeof value);
    append(out, static_cast<double>(static_cast<float>(value)));
    return true;
  }
  return dispatch(a.dtype(), as);
}

}  // namespace

ArrowSchema arrow_schema_of(const ArrowType& type) {
  auto held = std::make_unique<HeldSchema>();
  held->format = format_of(type);
  held->name = type.name;
  const bool list = type.kind == ArrowKind::list || type.kind == ArrowKind::fixed_list;
  for (const ArrowType& part : type.parts) {
    ArrowType named = part;
    if (list) named.name = "item";
    held->parts.push_back(arrow_schema_of(named));
  }
  for (ArrowSchema& part : held->parts) held->part_places.push_back(&part);
  ArrowSchema out = {};
  out.format = held->format.c_str();
  out.name = held->name.c_str();
  out.flags = 2;  // nullable
  out.n_children = std::ssize(held->parts);
  out.children = held->part_places.data();
  out.release = release_schema;
  out.private_data = held.release();
  return out;
}

Status widen(ArrowType& type, const Element& element) {
  auto other = type_of(element);
  return other ? widen_with(type, *other) : other.status();
}

ArrowColumn::ArrowColumn(ArrowType type) : type_(std::move(type)) {
  for (const ArrowType& part : type_.parts) parts_.emplace_back(part);
  if (type_.kind == ArrowKind::list || type_.kind == ArrowKind::text ||
      type_.kind == ArrowKind::bytes)
    append(offsets_, std::int32_t{0});
}

void ArrowColumn::add_null() {
  if (length_ % 8 == 0) validity_ += '\0';
  switch (type_.kind) {
    case ArrowKind::boolean:
      if (length_ % 8 == 0) data_ += '\0';
      break;
    case ArrowKind::number: data_.append(byte_width(type_.dtype), '\0'); break;
    case ArrowKind::text:
    case ArrowKind::bytes:
    case ArrowKind::list: offsets_ += offsets_.substr(offsets_.size() - 4); break;
    case ArrowKind::fixed_list:
      for (std::int64_t i = 0; i < type_.size; ++i) parts_[0].add_null();
      break;
    default:
      for (ArrowColumn& part : parts_) part.add_null();
  }
  ++length_;
  ++nulls_;
}

Status ArrowColumn::add(const Element& e) {
  if (e.is_none() || type_.kind == ArrowKind::null) {
    if (!e.is_none()) return Status(Code::invalid, " a value, where the first records have none");
    add_null();
    return {};
  }
  const auto misfit = [&] {
    return Status(Code::invalid, " {} where the first records have {}", e.to_string().substr(0, 60),
                  words(type_));
  };
  const bool array = e.kind() == Element::Kind::array;
  const bool scalar = array && e.array().shape().rank() == 0;
  const auto valid = [&] {
    if (length_ % 8 == 0) validity_ += '\0';
    validity_.back() =
        static_cast<char>(static_cast<unsigned char>(validity_.back()) | (1u << (length_ % 8)));
    ++length_;
  };
  switch (type_.kind) {
    case ArrowKind::boolean: {
      bool value = false;
      if (e.kind() == Element::Kind::boolean)
        value = e.boolean();
      else if (scalar && e.array().dtype() == DType::i1)
        value = e.array().data()[0] != std::byte{};
      else
        return misfit();
      if (length_ % 8 == 0) data_ += '\0';
      if (value)
        data_.back() =
            static_cast<char>(static_cast<unsigned char>(data_.back()) | (1u << (length_ % 8)));
      break;
    }
    case ArrowKind::number: {
      const std::size_t before = data_.size();
      bool good = false;
      const bool real = is_float(type_.dtype) && type_.dtype != DType::f16;
      if (e.kind() == Element::Kind::integer && type_.dtype != DType::f16)
        good = convert(e.integer(), type_.dtype, data_);
      else if (e.kind() == Element::Kind::real && real)
        good = convert(e.real(), type_.dtype, data_);
      else if (scalar)
        good = convert_item(e.array(), 0, type_.dtype, data_);
      if (!good) return data_.resize(before), misfit();
      break;
    }
    case ArrowKind::text:
    case ArrowKind::bytes: {
      const bool texts = e.kind() == Element::Kind::text;
      if (!texts && e.kind() != Element::Kind::bytes) return misfit();
      if (type_.kind == ArrowKind::text && tokenizer::first_invalid(e.view()) != std::string::npos)
        return Status(Code::invalid, " text that is not UTF-8");
      if (std::ssize(data_) + std::ssize(e.view()) > kMostOffset)
        return Status(Code::invalid, " more than 2 GiB of texts in one batch");
      data_ += e.view();
      append(offsets_, static_cast<std::int32_t>(data_.size()));
      break;
    }
    case ArrowKind::list:
    case ArrowKind::fixed_list:
      if (Status s = add_list(e); !s.ok()) return s;
      break;
    default: {
      if (e.kind() != Element::Kind::dict) return misfit();
      std::size_t found = 0;
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        // Members mostly come in the columns' order.
        const std::string& name = type_.parts[i].name;
        const Element* value = nullptr;
        if (i < e.fields().size() && e.fields()[i].first == name)
          value = &e.fields()[i].second;
        else if (e.contains(name))
          value = &e.at(name);
        found += value != nullptr;
        if (!value) {
          parts_[i].add_null();
        } else if (Status s = parts_[i].add(*value); !s.ok()) {
          return Status(s.code(), "{}.{}", name, s.message());
        }
      }
      if (found != e.fields().size())
        for (const auto& [key, value] : e.fields())
          if (std::none_of(type_.parts.begin(), type_.parts.end(),
                           [&](const ArrowType& t) { return t.name == key; }))
            return Status(Code::invalid, "{}. is no member of the first records", key);
    }
  }
  valid();
  return {};
}

Status ArrowColumn::add_array(const Literal& a, std::int64_t at, std::int64_t rank) {
  // Part `at` of the array, of those that its first `rank` axes count.
  if (rank == a.shape().rank()) {
    if (type_.kind == ArrowKind::boolean || a.dtype() == DType::i1) {
      if (type_.kind != ArrowKind::boolean || a.dtype() != DType::i1)
        return Status(Code::invalid, " {} where the first records have {}", name(a.dtype()),
                      words(type_));
      return add(Element(a.data()[at] != std::byte{}));
    }
    const std::size_t before = data_.size();
    if (type_.kind != ArrowKind::number || !convert_item(a, at, type_.dtype, data_)) {
      data_.resize(before);
      return Status(Code::invalid, " {} where the first records have {}", name(a.dtype()),
                    words(type_));
    }
    if (length_ % 8 == 0) validity_ += '\0';
    validity_.back() =
        static_cast<char>(static_cast<unsigned char>(validity_.back()) | (1u << (length_ % 8)));
    ++length_;
    return {};
  }
  const std::int64_t size = a.shape()[static_cast<int>(rank)];
  if (type_.kind != ArrowKind::list && (type_.kind != ArrowKind::fixed_list || type_.size != size))
    return Status(Code::invalid, " an array {} where the first records have {}",
                  a.type().to_string(), words(type_));
  for (std::int64_t i = 0; i < size; ++i)
    if (Status s = parts_[0].add_array(a, at * size + i, rank + 1); !s.ok()) return s;
  if (rank == 0) return {};
  if (type_.kind == ArrowKind::list)
    append(offsets_, static_cast<std::int32_t>(parts_[0].length()));
  if (length_ % 8 == 0) validity_ += '\0';
  validity_.back() =
      static_cast<char>(static_cast<unsigned char>(validity_.back()) | (1u << (length_ % 8)));
  ++length_;
  return {};
}

Status ArrowColumn::add_list(const Element& e) {
  const std::int64_t before = parts_[0].length();
  const auto misfit = [&] {
    return Status(Code::invalid, " {} where the first records have {}", e.to_string().substr(0, 60),
                  words(type_));
  };
  if (e.kind() == Element::Kind::array && e.array().shape().rank() > 0) {
    if (Status s = add_array(e.array(), 0, 0); !s.ok()) return s;
  } else if (e.kind() == Element::Kind::strings && e.strings().shape.rank() == 1) {
    for (std::int64_t i = 0; i < e.strings().shape[0]; ++i) {
      std::string item(e.strings().at(i));
      Status s = parts_[0].add(e.strings().is_text ? Element(std::move(item))
                                                   : Element::bytes(std::move(item)));
      if (!s.ok()) return s;
    }
  } else if (e.kind() == Element::Kind::list || e.kind() == Element::Kind::tuple) {
    for (const Element& item : e.items())
      if (Status s = parts_[0].add(item); !s.ok()) return s;
  } else {
    return misfit();
  }
  const std::int64_t after = parts_[0].length();
  if (type_.kind == ArrowKind::fixed_list)
    return after - before == type_.size ? Status() : misfit();
  if (after > kMostOffset) return Status(Code::invalid, " more than 2^31 items in one batch");
  append(offsets_, static_cast<std::int32_t>(after));
  return {};
}

ArrowArray ArrowColumn::take() {
  auto held = std::make_unique<Held>();
  ArrowArray out = {};
  out.length = length_;
  out.null_count = nulls_;
  const bool null = type_.kind == ArrowKind::null;
  if (null) out.null_count = length_;
  if (nulls_ > 0 && !null) held->buffers[0] = std::move(validity_);
  const bool offsets = !offsets_.empty();
  const bool fixed = type_.kind == ArrowKind::fixed_list || type_.kind == ArrowKind::structure;
  if (offsets) {
    held->buffers[1] = std::move(offsets_);
    held->buffers[2] = std::move(data_);
  } else {
    held->buffers[1] = std::move(data_);
  }
  out.n_buffers = null ? 0 : fixed ? 1 : type_.kind == ArrowKind::list ? 2 : offsets ? 3 : 2;
  held->places[0] = nulls_ > 0 && !null ? held->buffers[0].data() : nullptr;
  for (std::size_t i = 1; i < 3; ++i) held->places[i] = held->buffers[i].data();
  for (ArrowColumn& part : parts_) held->parts.push_back(part.take());
  for (ArrowArray& part : held->parts) held->part_places.push_back(&part);
  out.buffers = held->places.data();
  out.n_children = std::ssize(held->parts);
  out.children = held->part_places.data();
  out.release = release_array;
  out.private_data = held.release();
  ArrowType type = std::move(type_);
  *this = ArrowColumn(std::move(type));
  return out;
}

}  // namespace strata::data
