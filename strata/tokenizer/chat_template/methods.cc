// The methods of Python's strings, lists and mappings that templates call. What would change a list
// or a mapping is refused, as upstream's sandbox does.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "strata/tokenizer/chat_template/evaluator.h"
#include "strata/tokenizer/chat_template/python_text.h"

namespace strata::tokenizer::jinja {
namespace {

using Method = Value (*)(const Value& self, const Arguments&);
struct Entry {
  std::string_view name;
  Method call;
};

std::optional<std::string> optional_text(const Bound& b, std::string_view name) {
  if (b.get(name).is_none()) return std::nullopt;
  return b.text(name, "");
}
template <bool kLeft, bool kRight>
Value strip(const Value& self, const Arguments& a) {
  return python::strip(self.text(), optional_text(Bound("strip", a, {"chars"}), "chars"), kLeft,
                       kRight);
}
template <bool kFromRight>
Value split(const Value& self, const Arguments& a) {
  const Bound b("split", a, {"sep", "maxsplit"});
  return python::split(self.text(), optional_text(b, "sep"), b.integer("maxsplit", -1), kFromRight);
}
template <python::Case kTo>
Value cased(const Value& self, const Arguments& a) {
  const Bound b("the method", a, {});
  return python::cased(self.text(), kTo);
}
template <python::Kind kKind>
Value is_all(const Value& self, const Arguments& a) {
  const Bound b("the method", a, {});
  return python::is_all(self.text().bytes, kKind);
}
bool has_affix(const std::string& text, const Value& affix, bool at_end) {
  if (affix.is_sequence() && affix.sequence().is_tuple)
    return std::any_of(affix.items().begin(), affix.items().end(),
                       [&](const Value& x) { return has_affix(text, x, at_end); });
  if (!affix.is_text())
    fail(fmt::format("{} first arg must be str or a tuple of str, not {}",
                     at_end ? "endswith" : "startswith", affix.type_name()));
  return at_end ? text.ends_with(affix.text().bytes) : text.starts_with(affix.text().bytes);
}
/// The part of the text that positions `start` and `end` leave.
Text part(const Value& self, const Bound& b) {
  return sliced(self, b.get("start"), b.get("end"), None()).text();
}
template <bool kAtEnd>
Value affix(const Value& self, const Arguments& a) {
  const Bound b(kAtEnd ? "endswith" : "startswith", a, {"prefix", "start", "end"});
  return has_affix(part(self, b).bytes, b.get("prefix"), kAtEnd);
}
template <bool kFromRight, bool kMust>
Value find(const Value& self, const Arguments& a) {
  const Bound b(kMust ? "index" : "find", a, {"sub", "start", "end"});
  const std::string& whole = self.text().bytes;
  const Text inside = part(self, b);
  const std::string sub = b.text("sub", "");
  const std::size_t at = kFromRight ? inside.bytes.rfind(sub) : inside.bytes.find(sub);
  if (at == std::string::npos) {
    if (kMust) fail("substring not found");
    return std::int64_t{-1};
  }
  std::int64_t start = b.integer("start", 0);
  if (start < 0) start = std::max<std::int64_t>(0, start + python::length(whole));
  return start + python::length(std::string_view(inside.bytes).substr(0, at));
}
Value count(const Value& self, const Arguments& a) {
  const Bound b("count", a, {"sub", "start", "end"});
  const std::string text = part(self, b).bytes, sub = b.text("sub", "");
  if (sub.empty()) return python::length(text) + 1;
  std::int64_t n = 0;
  for (std::size_t i = text.find(sub); i != std::string::npos; i = text.find(sub, i + sub.size()))
    ++n;
  return n;
}
Value replace(const Value& self, const Arguments& a) {
  const Bound b("replace", a, {"old", "new", "count"});
  const Value with = b.get("new");
  if (!with.is_text()) fail("replace() argument 2 must be str, not " + with.type_name());
  return python::replace(self.text(), b.text("old", ""), with.text(), b.integer("count", -1));
}
Value join(const Value& self, const Arguments& a) {
  const Value all = Bound("join", a, {"iterable"}).get("iterable");
  List items;
  if (all.is_sequence())
    items = all.items();
  else if (all.is_dict())
    for (const auto& [key, v] : all.dict().items) items.push_back(key);
  else if (all.is_text())
    for (std::int64_t i = 0; i < size_of(all); ++i) items.push_back(sliced(all, i, i + 1, None()));
  else
    fail("can only join an iterable");
  Text out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_text())
      fail(fmt::format("sequence item {}: expected str instance, {} found", i,
                       items[i].type_name()));
    if (i > 0) out.append(self.text());
    out.append(items[i].text());
  }
  return out;
}
Value split_lines(const Value& self, const Arguments& a) {
  return python::split_lines(self.text(),
                             Bound("splitlines", a, {"keepends"}).truth("keepends", false));
}
template <bool kFromRight>
Value partition(const Value& self, const Arguments& a) {
  const std::string sep = Bound("partition", a, {"sep"}).text("sep", "");
  if (sep.empty()) fail("empty separator");
  const Text& t = self.text();
  const std::size_t at = kFromRight ? t.bytes.rfind(sep) : t.bytes.find(sep);
  if (at == std::string::npos)
    return kFromRight ? Sequence{{Text(), Text(), t}, true} : Sequence{{t, Text(), Text()}, true};
  return Sequence{{t.substr(0, at), t.substr(at, sep.size()), t.substr(at + sep.size())}, true};
}
template <bool kSuffix>
Value remove(const Value& self, const Arguments& a) {
  const std::string x = Bound("removeprefix", a, {"prefix"}).text("prefix", "");
  const Text& t = self.text();
  if (kSuffix ? !t.bytes.ends_with(x) : !t.bytes.starts_with(x)) return t;
  return kSuffix ? t.substr(0, t.size() - x.size()) : t.substr(x.size());
}
/// -1: to the left, 0: in the middle, 1: to the right.
template <int kWhere>
Value justified(const Value& self, const Arguments& a) {
  const Bound b("ljust", a, {"width", "fillchar"});
  const std::int64_t missing = b.integer("width", 0) - size_of(self);
  if (missing <= 0) return self;
  if (missing > (1 << 20)) fail("a string grows beyond a million characters");
  const std::string fill = b.text("fillchar", " ");
  const std::int64_t width = b.integer("width", 0),
                     left = kWhere < 0   ? 0
                            : kWhere > 0 ? missing
                                         : missing / 2 + (missing & width & 1);
  Text out;
  for (std::int64_t i = 0; i < left; ++i) out.append(Text(fill));
  out.append(self.text());
  for (std::int64_t i = left; i < missing; ++i) out.append(Text(fill));
  return out;
}
Value zfill(const Value& self, const Arguments& a) {
  const std::int64_t missing = Bound("zfill", a, {"width"}).integer("width", 0) - size_of(self);
  if (missing <= 0) return self;
  if (missing > (1 << 20)) fail("a string grows beyond a million characters");
  const Text& t = self.text();
  const std::size_t sign = t.bytes.starts_with('-') || t.bytes.starts_with('+') ? 1 : 0;
  Text out = t.substr(0, sign);
  out.append(Text(std::string(static_cast<std::size_t>(missing), '0')));
  out.append(t.substr(sign));
  return out;
}
/// Python's format(v, spec), of which fmt's specifications are.
Text laid_out(const Value& v, const std::string& spec) {
  if (spec.empty()) return to_text(v);
  // Five digits in a row would be a width of ten thousand and more.
  std::size_t digits = 0, most = 0;
  for (const char c : spec) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    most = std::max(most, digits);
  }
  if (spec.size() > 16 || most > 4 || spec.find_first_of("{}") != std::string::npos)
    fail(fmt::format("format: the specification '{}' is too long", spec));
  const std::string form = "{:" + spec + "}";
  try {
    if (v.is_text()) {
      Text out;
      out.append(fmt::format(fmt::runtime(form), v.text().bytes), v.text().all_marked());
      return out;
    }
    if (v.is_float() || (v.is_number() && spec.find_first_of("feg") != std::string::npos))
      return Text(fmt::format(fmt::runtime(form), v.number()));
    if (v.is_number()) return Text(fmt::format(fmt::runtime(form), v.integer()));
  } catch (const fmt::format_error& e) {
    fail(fmt::format("format: '{}': {}", spec, e.what()));
  }
  fail(fmt::format("unsupported format string passed to {}.__format__", v.type_name()));
}
/// {}, {0} and {name}, with format specifications.
Value format(const Value& self, const Arguments& a) {
  const Text& t = self.text();
  Text out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const char c = t.bytes[i];
    if ((c == '{' || c == '}') && i + 1 < t.size() && t.bytes[i + 1] == c) {
      out.append(t.substr(i++, 1));
    } else if (c == '{') {
      const std::size_t end = t.bytes.find('}', i);
      if (end == std::string::npos) fail("expected '}' before end of string");
      std::string field = t.bytes.substr(i + 1, end - i - 1), spec;
      if (const std::size_t colon = field.find(':'); colon != std::string::npos) {
        spec = field.substr(colon + 1);
        field.resize(colon);
      }
      const bool number =
          !field.empty() && field.find_first_not_of("0123456789") == std::string::npos;
      const bool name = field.find_first_of(".[!{") == std::string::npos;
      if (!name) fail(fmt::format("format: '{{{}}}' is more than a name or a number", field));
      if (field.empty() || number) {
        const std::size_t k = field.empty() ? next++ : std::stoul(field.substr(0, 9));
        if (k >= a.positional.size())
          fail(fmt::format("Replacement index {} out of range for positional args tuple", k));
        out.append(laid_out(a.positional[k], spec));
      } else {
        const auto it = std::find_if(a.named.begin(), a.named.end(),
                                     [&](const auto& n) { return n.first == field; });
        if (it == a.named.end()) fail(fmt::format("format: no argument '{}'", field));
        out.append(laid_out(it->second, spec));
      }
      i = end;
    } else if (c == '}') {
      fail("Single '}' encountered in format string");
    } else {
      out.append(t.substr(i, 1));
    }
  }
  return out;
}

constexpr Entry kOfText[] = {
    {"strip", strip<true, true>},
    {"lstrip", strip<true, false>},
    {"rstrip", strip<false, true>},
    {"split", split<false>},
    {"rsplit", split<true>},
    {"splitlines", split_lines},
    {"upper", cased<python::Case::upper>},
    {"lower", cased<python::Case::lower>},
    {"casefold", cased<python::Case::lower>},
    {"title", cased<python::Case::title>},
    {"capitalize", cased<python::Case::capital>},
    {"swapcase", cased<python::Case::swapped>},
    {"startswith", affix<false>},
    {"endswith", affix<true>},
    {"find", find<false, false>},
    {"rfind", find<true, false>},
    {"index", find<false, true>},
    {"rindex", find<true, true>},
    {"count", count},
    {"replace", replace},
    {"join", join},
    {"partition", partition<false>},
    {"rpartition", partition<true>},
    {"removeprefix", remove<false>},
    {"removesuffix", remove<true>},
    {"ljust", justified<-1>},
    {"rjust", justified<1>},
    {"center", justified<0>},
    {"zfill", zfill},
    {"format", format},
    {"isdigit", is_all<python::Kind::digit>},
    {"isnumeric", is_all<python::Kind::digit>},
    {"isdecimal", is_all<python::Kind::digit>},
    {"isalpha", is_all<python::Kind::alpha>},
    {"isalnum", is_all<python::Kind::alnum>},
    {"isspace", is_all<python::Kind::space>},
    {"isupper",
     [](const Value& v, const Arguments&) { return Value(python::is_upper(v.text().bytes)); }},
    {"islower",
     [](const Value& v, const Arguments&) { return Value(python::is_lower(v.text().bytes)); }},
};

constexpr Entry kOfList[] = {
    {"count",
     [](const Value& v, const Arguments& a) {
       const Value x = Bound("count", a, {"value"}).get("value");
       return Value(static_cast<std::int64_t>(std::count_if(
           v.items().begin(), v.items().end(), [&](const Value& y) { return equal(x, y); })));
     }},
    {"index",
     [](const Value& v, const Arguments& a) {
       const Value x = Bound("index", a, {"value"}).get("value");
       for (std::size_t i = 0; i < v.items().size(); ++i)
         if (equal(v.items()[i], x)) return Value(static_cast<std::int64_t>(i));
       fail(fmt::format("{} is not in list", repr(x).bytes));
     }},
    {"copy", [](const Value& v, const Arguments&) { return v; }},
};

Value pair(const Value& a, const Value& b) { return Sequence{{a, b}, true}; }

constexpr Entry kOfDict[] = {
    {"get",
     [](const Value& v, const Arguments& a) {
       const Bound b("get", a, {"key", "default"});
       const Value* x = v.dict().find(b.get("key"));
       return x != nullptr ? *x : b.get("default");
     }},
    {"items",
     [](const Value& v, const Arguments&) {
       List out;
       for (const auto& [key, x] : v.dict().items) out.push_back(pair(key, x));
       return Value(out);
     }},
    {"keys",
     [](const Value& v, const Arguments&) {
       List out;
       for (const auto& [key, x] : v.dict().items) out.push_back(key);
       return Value(out);
     }},
    {"values",
     [](const Value& v, const Arguments&) {
       List out;
       for (const auto& [key, x] : v.dict().items) out.push_back(x);
       return Value(out);
     }},
    {"copy", [](const Value& v, const Arguments&) { return v; }},
};

constexpr std::array<std::string_view, 12> kChanging = {
    "append",  "insert", "extend", "pop",        "remove",  "sort",
    "reverse", "clear",  "update", "setdefault", "popitem", "fromkeys"};

}  // namespace

Value method(const Value& self, std::string_view name) {
  const auto among = [&](const auto& entries) -> Value {
    for (const Entry& e : entries)
      if (e.name == name)
        return Callable{std::string(name),
                        [self, call = e.call](const Arguments& a) { return call(self, a); }};
    return Undefined{};
  };
  if (self.is_text()) return among(kOfText);
  const bool has_list = self.is_sequence(), has_dict = self.is_dict();
  if ((has_list || has_dict) &&
      std::find(kChanging.begin(), kChanging.end(), name) != kChanging.end() &&
      (has_list ? std::find(kChanging.begin(), kChanging.begin() + 8, name) != kChanging.begin() + 8
                : std::find(kChanging.begin() + 7, kChanging.end(), name) != kChanging.end() ||
                      name == "pop"))
    return Callable{std::string(name), [name = std::string(name)](const Arguments&) -> Value {
                      fail(fmt::format("{}: a template may not change lists and mappings", name));
                    }};
  if (has_list) return among(kOfList);
  if (has_dict) return among(kOfDict);
  return Undefined{};
}

}  // namespace strata::tokenizer::jinja
