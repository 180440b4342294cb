#include "strata/data/element.h"

#include <algorithm>
#include <array>

#include "strata/base/error.h"
#include "strata/base/text.h"

namespace strata::data {
namespace {

constexpr std::array kNames = {"none",  "boolean", "integer", "real",  "text", "bytes",
                               "array", "strings", "list",    "tuple", "dict"};

[[noreturn]] void wrong_kind(const char* wanted, Element::Kind kind) {
  throw Error("data::Element", "asked for {}, but it is {}", wanted, name(kind));
}

/// Text or bytes within quotes; what is not printable as \xNN, at most `most` bytes.
std::string quoted(std::string_view bytes, bool is_text, std::size_t most = 64) {
  std::string out = is_text ? "\"" : "b\"";
  for (char c : bytes.substr(0, most)) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (u >= 0x20 && (u < 0x7f || (is_text && u >= 0x80)))
      out += c;
    else
      out += fmt::format("\\x{:02x}", u);
  }
  return out + (bytes.size() > most ? fmt::format("\"... ({} bytes)", bytes.size()) : "\"");
}

std::string array_text(const Literal& x) {
  constexpr std::int64_t kMost = 8;
  std::string out = x.type().to_string() + " [";
  if (!has_storage(x.dtype())) return out + "...]";
  for (std::int64_t i = 0; i < std::min(x.count(), kMost); ++i) {
    const bool whole = x.dtype() == DType::i64 || x.dtype() == DType::ui64;
    out += (i ? ", " : "") +
           (whole ? fmt::format("{}", x.integer(i)) : fmt::format("{}", x.number(i)));
  }
  return out + (x.count() > kMost ? ", ...]" : "]");
}

}  // namespace

std::string_view StringArray::at(std::int64_t i) const {
  STRATA_CHECK(i >= 0 && i < shape.count(), "item {} of {}", i, shape.count());
  std::string_view out = std::string_view(*storage).substr(static_cast<std::size_t>(i * width),
                                                           static_cast<std::size_t>(width));
  const std::size_t last = out.find_last_not_of('\0');
  return out.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

std::string_view name(Element::Kind kind) { return kNames[static_cast<std::size_t>(kind)]; }

Element::Element(std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  const std::string_view view = *owner;
  value_ = Text{std::move(owner), view};
}

Element::Element(Literal array) : value_(std::make_shared<const Literal>(std::move(array))) {}

Element::Element(StringArray strings)
    : value_(std::make_shared<const StringArray>(std::move(strings))) {}

Element Element::bytes(std::string bytes) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  const std::string_view view = *owner;
  return Element::bytes(std::move(owner), view);
}

Element Element::bytes(std::shared_ptr<const void> owner, std::string_view bytes) {
  Element out;
  out.value_ = Bytes{{std::move(owner), bytes}};
  return out;
}

Element Element::text(std::shared_ptr<const void> owner, std::string_view text) {
  Element out;
  out.value_ = Text{std::move(owner), text};
  return out;
}

Element Element::list(Items items) {
  Element out;
  out.value_ = List{std::make_shared<const Items>(std::move(items))};
  return out;
}

Element Element::tuple(Items items) {
  Element out;
  out.value_ = Tuple{{std::make_shared<const Items>(std::move(items))}};
  return out;
}

Element Element::dict(Fields fields) {
  Element out;
  out.value_ = Dict{std::make_shared<const Fields>(std::move(fields))};
  return out;
}

Element::Kind Element::kind() const { return static_cast<Kind>(value_.index()); }

bool Element::boolean() const {
  if (const bool* b = std::get_if<bool>(&value_)) return *b;
  if (kind() == Kind::array && array().shape().rank() == 0) return array().number(0) != 0;
  wrong_kind("a boolean", kind());
}

std::int64_t Element::integer() const {
  if (const auto* i = std::get_if<std::int64_t>(&value_)) return *i;
  if (const bool* b = std::get_if<bool>(&value_)) return *b;
  if (kind() == Kind::array && array().shape().rank() == 0 && is_integer(array().dtype()))
    return array().integer(0);
  wrong_kind("an integer", kind());
}

double Element::real() const {
  if (const double* r = std::get_if<double>(&value_)) return *r;
  if (kind() == Kind::array && array().shape().rank() == 0) return array().number(0);
  return static_cast<double>(integer());
}

std::string_view Element::view() const {
  if (const Text* t = std::get_if<Text>(&value_)) return t->view;
  if (const Bytes* b = std::get_if<Bytes>(&value_)) return b->view;
  wrong_kind("text or bytes", kind());
}

const Literal& Element::array() const {
  if (const auto* a = std::get_if<std::shared_ptr<const Literal>>(&value_)) return **a;
  wrong_kind("an array", kind());
}

const StringArray& Element::strings() const {
  if (const auto* s = std::get_if<std::shared_ptr<const StringArray>>(&value_)) return **s;
  wrong_kind("an array of strings", kind());
}

const Element::Items& Element::items() const {
  if (const List* l = std::get_if<List>(&value_)) return *l->items;
  if (const Tuple* t = std::get_if<Tuple>(&value_)) return *t->items;
  wrong_kind("a list or tuple", kind());
}

const Element::Fields& Element::fields() const {
  if (const Dict* d = std::get_if<Dict>(&value_)) return *d->fields;
  wrong_kind("a dict", kind());
}

bool Element::contains(std::string_view key) const {
  if (kind() != Kind::dict) return false;
  return std::any_of(fields().begin(), fields().end(),
                     [&](const auto& f) { return f.first == key; });
}

const Element& Element::at(std::string_view key) const {
  for (const auto& f : fields())
    if (f.first == key) return f.second;
  std::string keys;
  for (const auto& f : fields()) keys += (keys.empty() ? "" : ", ") + f.first;
  throw Error("data::Element", "no key \"{}\"; there are: {}", key, keys);
}

const Element& Element::at(std::size_t index) const {
  if (index >= items().size())
    throw Error("data::Element", "no part {} of {}", index, items().size());
  return items()[index];
}

void Element::set(std::string_view key, Element value) {
  Fields out = fields();
  const auto it =
      std::find_if(out.begin(), out.end(), [&](const auto& f) { return f.first == key; });
  if (it == out.end())
    out.emplace_back(key, std::move(value));
  else
    it->second = std::move(value);
  *this = dict(std::move(out));
}

void Element::erase(std::string_view key) {
  Fields out = fields();
  std::erase_if(out, [&](const auto& f) { return f.first == key; });
  *this = dict(std::move(out));
}

Shape Element::shape() const {
  if (kind() == Kind::array) return array().shape();
  if (kind() == Kind::strings) return strings().shape;
  return {};
}

std::int64_t Element::byte_count() const {
  switch (kind()) {
    case Kind::none: return 0;
    case Kind::boolean: return 1;
    case Kind::integer:
    case Kind::real: return 8;
    case Kind::text:
    case Kind::bytes: return static_cast<std::int64_t>(view().size());
    case Kind::array: return static_cast<std::int64_t>(array().bytes());
    case Kind::strings: return strings().shape.count() * strings().width;
    default: break;
  }
  std::int64_t out = 0;
  for_each_leaf([&](const std::string&, const Element& leaf) { out += leaf.byte_count(); });
  return out;
}

std::string Element::to_string() const {
  switch (kind()) {
    case Kind::none: return "none";
    case Kind::boolean: return boolean() ? "true" : "false";
    case Kind::integer: return fmt::format("{}", integer());
    case Kind::real: return fmt::format("{}", real());
    case Kind::text: return quoted(view(), true);
    case Kind::bytes: return quoted(view(), false);
    case Kind::array: return array_text(array());
    case Kind::strings: {
      std::string out = "[";
      for (std::int64_t i = 0; i < strings().shape.count(); ++i)
        out += (i ? ", " : "") + quoted(strings().at(i), strings().is_text);
      return out + "]";
    }
    case Kind::dict: {
      std::string out = "{";
      for (const auto& [key, part] : fields())
        out += (out.size() > 1 ? ", " : "") + quoted(key, true) + ": " + part.to_string();
      return out + "}";
    }
    default: break;
  }
  std::string out(kind() == Kind::list ? "[" : "(");
  for (const Element& part : items()) out += (out.size() > 1 ? ", " : "") + part.to_string();
  return out + (kind() == Kind::list ? "]" : ")");
}

bool Element::operator==(const Element& other) const {
  if (kind() != other.kind()) return false;
  switch (kind()) {
    case Kind::none: return true;
    case Kind::boolean: return boolean() == other.boolean();
    case Kind::integer: return integer() == other.integer();
    case Kind::real: {
      const double a = real(), b = other.real();
      return std::memcmp(&a, &b, sizeof a) == 0;
    }
    case Kind::text:
    case Kind::bytes: return view() == other.view();
    case Kind::array: return array().same_bits(other.array());
    case Kind::strings: {
      const StringArray &a = strings(), &b = other.strings();
      return a.shape == b.shape && a.width == b.width && a.is_text == b.is_text &&
             *a.storage == *b.storage;
    }
    case Kind::dict: return fields() == other.fields();
    default: return items() == other.items();
  }
}

namespace {

void visit(const Element& e, const std::string& path,
           const std::function<void(const std::string&, const Element&)>& f) {
  const auto below = [&](const std::string& key) { return path.empty() ? key : path + "/" + key; };
  if (e.is_none()) return;
  if (e.is_leaf()) {
    f(path, e);
  } else if (e.kind() == Element::Kind::dict) {
    std::vector<const std::pair<std::string, Element>*> sorted;
    for (const auto& field : e.fields()) sorted.push_back(&field);
    std::sort(sorted.begin(), sorted.end(),
              [](const auto* a, const auto* b) { return a->first < b->first; });
    for (const auto* field : sorted) visit(field->second, below(field->first), f);
  } else {
    for (std::size_t i = 0; i < e.items().size(); ++i)
      visit(e.items()[i], below(std::to_string(i)), f);
  }
}

}  // namespace

void Element::for_each_leaf(
    const std::function<void(const std::string&, const Element&)>& f) const {
  visit(*this, "", f);
}

Element Element::map_leaves(const std::function<Element(const Element&)>& f) const {
  if (is_none()) return {};
  if (is_leaf()) return f(*this);
  if (kind() == Kind::dict) {
    Fields out = fields();
    for (auto& field : out) field.second = field.second.map_leaves(f);
    return dict(std::move(out));
  }
  Items out = items();
  for (Element& part : out) part = part.map_leaves(f);
  return kind() == Kind::list ? list(std::move(out)) : tuple(std::move(out));
}

}  // namespace strata::data
