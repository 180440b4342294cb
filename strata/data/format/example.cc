#include "strata/data/format/example.h"

#include <algorithm>
#include <cstring>

#include "strata/base/format/protobuf.h"
#include "strata/base/result.h"
#include "strata/tokenizer/utf8.h"

namespace strata::data {
namespace {

using protobuf::Wire;
enum Kind : std::uint64_t { kBytes = 1, kFloat = 2, kInt64 = 3 };

Element text_or_bytes(std::string_view bytes) {
  if (tokenizer::first_invalid(bytes) == std::string::npos) return Element(std::string(bytes));
  return Element::bytes(std::string(bytes));
}

template <class T>
Element numbers(const std::vector<T>& values) {
  if (values.size() != 1) return Literal::of<T>({std::ssize(values)}, values);
  if constexpr (std::is_same_v<T, float>)
    return static_cast<double>(values.front());
  else
    return values.front();
}

bool read_floats(std::string_view list, std::vector<float>& out) {
  protobuf::Reader fields(list);
  while (auto f = fields.next()) {
    if (f->is(1, Wire::fixed32)) out.push_back(f->fixed<float>());
    if (!f->is(1, Wire::bytes)) continue;
    if (f->bytes.size() % sizeof(float) != 0) return false;
    const std::size_t had = out.size();
    out.resize(had + f->bytes.size() / sizeof(float));
    if (!f->bytes.empty()) std::memcpy(out.data() + had, f->bytes.data(), f->bytes.size());
  }
  return !fields.broken();
}

bool read_integers(std::string_view list, std::vector<std::int64_t>& out) {
  protobuf::Reader fields(list);
  while (auto f = fields.next()) {
    if (f->is(1, Wire::varint)) out.push_back(static_cast<std::int64_t>(f->value));
    if (!f->is(1, Wire::bytes)) continue;
    protobuf::Reader packed(f->bytes);
    const auto ends = [](char byte) { return (byte & 0x80) == 0; };
    const auto count = std::count_if(f->bytes.begin(), f->bytes.end(), ends);
    if (!f->bytes.empty() && !ends(f->bytes.back())) return false;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      const auto v = packed.varint();
      if (!v) return false;
      out.push_back(static_cast<std::int64_t>(*v));
    }
  }
  return !fields.broken();
}

bool read_bytes(std::string_view list, Element& out) {
  Element::Items items;
  protobuf::Reader fields(list);
  while (auto f = fields.next())
    if (f->is(1, Wire::bytes)) items.push_back(text_or_bytes(f->bytes));
  out = items.size() == 1 ? items.front() : Element::list(std::move(items));
  return !fields.broken();
}

/// A feature; the last of its kinds counts, as in protobuf.
bool read_feature(std::string_view message, Element& out) {
  protobuf::Reader fields(message);
  while (auto f = fields.next()) {
    if (f->wire != Wire::bytes) continue;
    std::vector<float> floats;
    std::vector<std::int64_t> integers;
    if (f->number == kBytes && !read_bytes(f->bytes, out)) return false;
    if (f->number == kFloat) {
      if (!read_floats(f->bytes, floats)) return false;
      out = numbers(floats);
    }
    if (f->number == kInt64) {
      if (!read_integers(f->bytes, integers)) return false;
      out = numbers(integers);
    }
  }
  return !fields.broken();
}

bool read_entry(std::string_view message, Element& out) {
  std::string_view key, feature;
  protobuf::Reader fields(message);
  while (auto f = fields.next()) {
    if (f->is(1, Wire::bytes)) key = f->bytes;
    if (f->is(2, Wire::bytes)) feature = f->bytes;
  }
  Element value;
  if (fields.broken() || tokenizer::first_invalid(key) != std::string::npos ||
      !read_feature(feature, value))
    return false;
  out.set(key, std::move(value));
  return true;
}

/// The three lists that a feature is written from; one of them is used.
struct Feature {
  Kind kind = kBytes;
  protobuf::Writer bytes;
  std::string floats, integers;

  void add(float v) {
    kind = kFloat;
    floats.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  void add(std::int64_t v) {
    kind = kInt64;
    auto u = static_cast<std::uint64_t>(v);
    for (; u >= 0x80; u >>= 7) integers += static_cast<char>(u | 0x80);
    integers += static_cast<char>(u);
  }
  void add(std::string_view v) { bytes.bytes(1, v); }
  std::string text() const {
    protobuf::Writer list, out;
    if (kind == kBytes) return out.message(kBytes, bytes).take();
    const std::string& packed = kind == kFloat ? floats : integers;
    if (!packed.empty()) list.bytes(1, packed);
    return out.message(kind, list).take();
  }
};

bool add_array(const Literal& a, Feature& out) {
  auto as = [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      out.kind = kInt64;
      for (T v : a.span<T>()) out.add(static_cast<std::int64_t>(v));
      return true;
    } else if constexpr (requires(T v) { static_cast<float>(v); }) {
      out.kind = kFloat;
      for (T v : a.span<T>()) out.add(static_cast<float>(v));
      return true;
    } else {
      return false;
    }
  };
  return has_storage(a.dtype()) && dispatch(a.dtype(), as);
}

/// Whether the value has a form in the format; lists hold scalars of one kind.
bool add_value(const Element& e, Feature& out, bool in_list = false) {
  switch (e.kind()) {
    case Element::Kind::boolean: out.add(std::int64_t{e.boolean()}); return true;
    case Element::Kind::integer: out.add(e.integer()); return true;
    case Element::Kind::real: out.add(static_cast<float>(e.real())); return true;
    case Element::Kind::text:
    case Element::Kind::bytes: out.add(e.view()); return true;
    case Element::Kind::array: return !in_list && add_array(e.array(), out);
    case Element::Kind::list:
    case Element::Kind::tuple:
      return !in_list && std::all_of(e.items().begin(), e.items().end(), [&](const Element& item) {
        const bool mixed = item.kind() != e.items().front().kind();
        return !mixed && add_value(item, out, true);
      });
    case Element::Kind::none: return !in_list;
    default: return false;
  }
}

}  // namespace

Result<Element> decode_example(std::string_view record, const std::string& where) {
  Element out = Element::dict({});
  protobuf::Reader example(record);
  bool good = true;
  while (auto features = example.next()) {
    if (!features->is(1, Wire::bytes)) continue;
    protobuf::Reader entries(features->bytes);
    while (auto entry = entries.next())
      if (entry->is(1, Wire::bytes)) good = good && read_entry(entry->bytes, out);
    good = good && !entries.broken();
  }
  if (good && !example.broken()) return out;
  return Status(Code::corrupt, "{}: no tf.train.Example", where);
}

Result<std::string> encode_example(const Element& element) {
  if (element.kind() != Element::Kind::dict)
    return Status(Code::invalid, "a tf.train.Example holds a dict, not {}", name(element.kind()));
  Element::Fields fields = element.fields();
  std::sort(fields.begin(), fields.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  protobuf::Writer features, out;
  for (const auto& [key, value] : fields) {
    Feature feature;
    if (!add_value(value, feature))
      return Status(Code::invalid, "a tf.train.Example cannot hold \"{}\": {}", key,
                    value.to_string().substr(0, 80));
    protobuf::Writer entry;
    entry.bytes(1, key).bytes(2, feature.text());
    features.message(1, entry);
  }
  return out.message(1, features).take();
}

bool is_example(std::string_view record) {
  auto e = decode_example(record, "");
  return e && !e->fields().empty();
}

}  // namespace strata::data
