// Jinja's filters.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "strata/tokenizer/chat_template/evaluator.h"
#include "strata/tokenizer/chat_template/python_text.h"

namespace strata::tokenizer::jinja {
namespace {

using Filter = Value (*)(Evaluator&, const Value& input, const Arguments&);
struct Entry {
  std::string_view name;
  Filter call;
};

/// x.a.b.0 of "a.b.0"; the default where that is undefined and a default is given.
Value at_path(Evaluator& e, const Value& x, const Value& path, const Value& otherwise) {
  Value out = x;
  if (path.is_int()) {
    out = e.item(out, path);
  } else {
    std::string_view rest = path.is_text() ? std::string_view(path.text().bytes) : "";
    while (!rest.empty()) {
      const std::size_t dot = rest.find('.');
      const std::string name(rest.substr(0, dot));
      const bool digits = !name.empty() && name.size() < 10 &&
                          name.find_first_not_of("0123456789") == std::string::npos;
      out = digits ? e.item(out, static_cast<std::int64_t>(std::stoll(name)))
                   : e.item(out, Text(name));
      rest = dot == std::string::npos ? std::string_view() : rest.substr(dot + 1);
    }
  }
  return out.is_undefined() && !otherwise.is_undefined() ? otherwise : out;
}
/// What values are compared by: strings in lower case unless case counts.
Value key_of(const Value& v, bool case_sensitive) {
  return v.is_text() && !case_sensitive ? Value(python::cased(v.text(), python::Case::lower)) : v;
}
List sorted(Evaluator& e, const List& given, const Bound& b) {
  const bool case_sensitive = b.truth("case_sensitive", false), reverse = b.truth("reverse", false);
  std::vector<std::pair<List, Value>> keyed;
  const std::string attributes = b.has("attribute") && b.get("attribute").is_text()
                                     ? b.get("attribute").text().bytes
                                     : std::string();
  for (const Value& v : given) {
    List key;
    if (attributes.empty()) {
      key.push_back(key_of(b.has("attribute") && b.get("attribute").is_int()
                               ? at_path(e, v, b.get("attribute"), Undefined{})
                               : v,
                           case_sensitive));
    } else {
      for (const Value& name : python::split(Text(attributes), ",", -1, false))
        key.push_back(key_of(at_path(e, v, name, Undefined{}), case_sensitive));
    }
    keyed.emplace_back(std::move(key), v);
  }
  const auto before = [](const auto& x, const auto& y) {
    return less(Value(x.first), Value(y.first));
  };
  e.step(static_cast<std::int64_t>(keyed.size()) * 4);
  if (reverse) {
    std::reverse(keyed.begin(), keyed.end());  // equal ones keep their order, as in Python
    std::stable_sort(keyed.begin(), keyed.end(), before);
    std::reverse(keyed.begin(), keyed.end());
  } else {
    std::stable_sort(keyed.begin(), keyed.end(), before);
  }
  List out;
  for (auto& [key, v] : keyed) out.push_back(std::move(v));
  return out;
}

Value join(Evaluator& e, const Value& input, const Arguments& a) {
  const Bound b("join", a, {"d", "attribute"});
  const Value between = b.get("d", Text());
  Text out;
  bool first = true;
  for (const Value& v : e.elements(input)) {
    e.step();
    if (!std::exchange(first, false)) out.append(to_text(between));
    out.append(to_text(b.has("attribute") ? at_path(e, v, b.get("attribute"), Undefined{}) : v));
    if (out.size() > e.limits().output_bytes) fail("a string grows beyond its limit");
  }
  return out;
}

Value map(Evaluator& e, const Value& input, const Arguments& a) {
  List out;
  if (!input.truth()) return out;  // none too, as upstream
  const bool by_attribute = a.positional.empty();
  if (by_attribute) {
    const Bound b("map", a, {"attribute", "default"});
    if (!b.has("attribute")) fail("map requires a filter argument");
    for (const Value& v : e.elements(input)) {
      e.step();
      out.push_back(at_path(e, v, b.get("attribute"), b.get("default", Undefined{})));
    }
    return out;
  }
  const Value name = a.positional[0];
  if (!name.is_text()) fail("map: the filter's name is no string");
  Arguments rest = a;
  rest.positional.erase(rest.positional.begin());
  for (const Value& v : e.elements(input)) out.push_back(e.filter(name.text().bytes, v, rest));
  return out;
}

template <bool kKeep, bool kAttribute>
Value select(Evaluator& e, const Value& input, const Arguments& a) {
  Arguments rest = a;
  Value attribute;
  const auto shift = [&] {
    Value v = rest.positional[0];
    rest.positional.erase(rest.positional.begin());
    return v;
  };
  if (kAttribute) {
    if (rest.positional.empty()) fail("Missing parameter for attribute name");
    attribute = shift();
  }
  std::string name;
  if (!rest.positional.empty()) {
    const Value given = shift();
    if (!given.is_text()) fail("the test's name is no string");
    name = given.text().bytes;
  }
  List out;
  if (!input.truth()) return out;  // none too, as upstream
  for (const Value& v : e.elements(input)) {
    e.step();
    const Value x = kAttribute ? at_path(e, v, attribute, Undefined{}) : v;
    if ((name.empty() ? x.truth() : e.test(name, x, rest)) == kKeep) out.push_back(v);
  }
  return out;
}

template <bool kLeast>
Value extreme(Evaluator& e, const Value& input, const Arguments& a) {
  const Bound b(kLeast ? "min" : "max", a, {"case_sensitive", "attribute"});
  const List all = e.elements(input);
  if (all.empty()) return Undefined{"No aggregated item, sequence was empty."};
  const auto key = [&](const Value& v) {
    return key_of(b.has("attribute") ? at_path(e, v, b.get("attribute"), Undefined{}) : v,
                  b.truth("case_sensitive", false));
  };
  const Value* best = &all[0];
  for (const Value& v : all)
    if (kLeast ? less(key(v), key(*best)) : less(key(*best), key(v))) best = &v;
  return *best;
}

Value tojson(Evaluator& e, const Value& input, const Arguments& a) {
  const Bound b("tojson", a, {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ascii = b.truth("ensure_ascii", false);
  style.sort_keys = b.truth("sort_keys", false);
  if (const Value indent = b.get("indent"); !indent.is_none()) {
    style.lines = true;
    style.item = ",";
    if (indent.is_text()) {
      style.indent = indent.text().bytes;
    } else {
      const std::int64_t n = b.integer("indent", 0);
      if (n > 64) fail("tojson: more than 64 spaces");
      style.indent.assign(static_cast<std::size_t>(std::max<std::int64_t>(n, 0)), ' ');
    }
  }
  if (const Value separators = b.get("separators"); !separators.is_none()) {
    const List both = e.elements(separators);
    if (both.size() != 2 || !both[0].is_text() || !both[1].is_text())
      fail("tojson: separators are two strings");
    style.item = both[0].text().bytes, style.key = both[1].text().bytes;
  }
  Text out = to_json(input, style);
  e.step(static_cast<std::int64_t>(out.size() / 64));
  return out;
}

Value indent(Evaluator& e, const Value& input, const Arguments& a) {
  const Bound b("indent", a, {"width", "first", "blank"});
  const Value width = b.get("width", std::int64_t{4});
  if (!width.is_text() && (b.integer("width", 4) > 1000)) fail("indent: more than 1000 spaces");
  const Text by =
      width.is_text()
          ? width.text()
          : Text(std::string(static_cast<std::size_t>(std::max<std::int64_t>(width.integer(), 0)),
                             ' '));
  const bool blank = b.truth("blank", false);
  Text text = to_text(input);
  text.append(Text("\n"));  // as upstream, so that a last empty line counts
  const List lines = python::split_lines(text, false);
  Text out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    e.step();
    if (i > 0) out.append(Text("\n"));
    if (i == 0 ? b.truth("first", false) : blank || !lines[i].text().empty()) out.append(by);
    out.append(lines[i].text());
    if (out.size() > e.limits().output_bytes) fail("a string grows beyond its limit");
  }
  return out;
}

Value to_int(Evaluator&, const Value& input, const Arguments& a) {
  const Bound b("int", a, {"default", "base"});
  const Value otherwise = b.get("default", std::int64_t{0});
  if (input.is_int() || input.is_bool()) return input.integer();
  if (input.is_float())
    return std::isfinite(input.number()) && std::abs(input.number()) < 9.2e18
               ? Value(static_cast<std::int64_t>(input.number()))
               : otherwise;
  if (!input.is_text()) return otherwise;
  std::string text = python::strip(input.text(), std::nullopt, true, true).bytes;
  std::erase(text, '_');
  const auto base = static_cast<int>(b.integer("base", 10));
  if (base != 0 && (base < 2 || base > 36)) return otherwise;
  try {
    std::size_t used = 0;
    if (base == 16 || base == 8 || base == 2) {
      const std::string_view prefix = base == 16 ? "0x" : base == 8 ? "0o" : "0b";
      if (text.starts_with(prefix)) text.erase(0, 2);
    }
    const long long value = std::stoll(text, &used, base);
    if (used == text.size()) return std::int64_t{value};
    const double d = std::stod(text, &used);
    if (used == text.size() && std::abs(d) < 9.2e18) return static_cast<std::int64_t>(d);
  } catch (const std::exception&) {
  }
  return otherwise;
}
Value to_float(Evaluator&, const Value& input, const Arguments& a) {
  const Value otherwise = Bound("float", a, {"default"}).get("default", 0.0);
  if (input.is_number()) return input.number();
  if (!input.is_text()) return otherwise;
  const std::string text = python::strip(input.text(), std::nullopt, true, true).bytes;
  try {
    std::size_t used = 0;
    const double d = std::stod(text, &used);
    if (used == text.size() && text.find_first_of("xX") == std::string::npos) return d;
  } catch (const std::exception&) {
  }
  return otherwise;
}
Value round(Evaluator&, const Value& input, const Arguments& a) {
  const Bound b("round", a, {"precision", "method"});
  const std::string how = b.text("method", "common");
  const std::int64_t precision = b.integer("precision", 0);
  if (how != "common" && how != "ceil" && how != "floor")
    fail("method must be common, ceil or floor");
  if (!input.is_number())
    fail(fmt::format("type {} doesn't define __round__ method", input.type_name()));
  if (precision < -15 || precision > 15) fail("round: the precision is beyond 15 digits");
  if (how == "common" && !input.is_float() && precision >= 0) return input.integer();
  if (how == "common") {
    // To nearest by the exact value, ties to even, as printing does.
    if (precision >= 0) {
      const double d =
          std::strtod(fmt::format("{:.{}f}", input.number(), precision).c_str(), nullptr);
      return d;
    }
    const double unit = std::pow(10.0, static_cast<double>(-precision));
    const double d = std::nearbyint(input.number() / unit) * unit;
    return input.is_float() ? Value(d) : Value(static_cast<std::int64_t>(d));
  }
  const double unit = std::pow(10.0, static_cast<double>(precision));
  return (how == "ceil" ? std::ceil(input.number() * unit) : std::floor(input.number() * unit)) /
         unit;
}

Value batch(Evaluator& e, const Value& input, const Arguments& a) {
  const Bound b("batch", a, {"linecount", "fill_with"});
  const std::int64_t n = b.integer("linecount", 1);
  if (n < 1 || n > e.limits().range) fail("batch: the size is out of range");
  List out, part;
  for (const Value& v : e.elements(input)) {
    if (static_cast<std::int64_t>(part.size()) == n) {
      out.push_back(part);
      part.clear();
    }
    part.push_back(v);
  }
  if (!part.empty()) {
    while (b.has("fill_with") && !b.get("fill_with").is_none() &&
           static_cast<std::int64_t>(part.size()) < n)
      part.push_back(b.get("fill_with"));
    out.push_back(part);
  }
  return out;
}
Value slice(Evaluator& e, const Value& input, const Arguments& a) {
  const Bound b("slice", a, {"slices", "fill_with"});
  const List all = e.elements(input);
  const std::int64_t n = b.integer("slices", 1), size = static_cast<std::int64_t>(all.size());
  if (n < 1 || n > e.limits().range) fail("slice: the number is out of range");
  List out;
  std::size_t at = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    List part;
    for (std::int64_t k = 0; k < size / n + (i < size % n ? 1 : 0); ++k) part.push_back(all[at++]);
    if (b.has("fill_with") && !b.get("fill_with").is_none() && i >= size % n)
      part.push_back(b.get("fill_with"));
    out.push_back(part);
  }
  return out;
}
Value group_by(Evaluator& e, const Value& input, const Arguments& a) {
  const Bound b("groupby", a, {"attribute", "default", "case_sensitive"});
  const bool case_sensitive = b.truth("case_sensitive", false);
  const auto key = [&](const Value& v) {
    return at_path(e, v, b.get("attribute"), b.get("default", Undefined{}));
  };
  List all = e.elements(input);
  std::stable_sort(all.begin(), all.end(), [&](const Value& x, const Value& y) {
    return less(key_of(key(x), case_sensitive), key_of(key(y), case_sensitive));
  });
  List out;
  for (std::size_t i = 0; i < all.size();) {
    List group;
    const Value first = key(all[i]);
    for (; i < all.size() &&
           equal(key_of(key(all[i]), case_sensitive), key_of(first, case_sensitive));
         ++i)
      group.push_back(all[i]);
    out.push_back(Sequence{.items = {first, group}, .is_tuple = true, .is_group = true});
  }
  return out;
}
Value dict_sort(Evaluator&, const Value& input, const Arguments& a) {
  const Bound b("dictsort", a, {"case_sensitive", "by", "reverse"});
  if (!input.is_dict()) fail(fmt::format("dictsort takes a mapping, not {}", input.type_name()));
  const std::string by = b.text("by", "key");
  if (by != "key" && by != "value") fail("You can only sort by either \"key\" or \"value\"");
  auto items = input.dict().items;
  const auto key = [&](const auto& item) {
    return key_of(by == "key" ? item.first : item.second, b.truth("case_sensitive", false));
  };
  const bool reverse = b.truth("reverse", false);
  std::stable_sort(items.begin(), items.end(), [&](const auto& x, const auto& y) {
    return reverse ? less(key(y), key(x)) : less(key(x), key(y));
  });
  List out;
  for (auto& [k, v] : items) out.push_back(Sequence{{k, v}, true});
  return out;
}
Value unique(Evaluator& e, const Value& input, const Arguments& a) {
  const Bound b("unique", a, {"case_sensitive", "attribute"});
  List out, keys;
  for (const Value& v : e.elements(input)) {
    const Value key =
        key_of(b.has("attribute") ? at_path(e, v, b.get("attribute"), Undefined{}) : v,
               b.truth("case_sensitive", false));
    e.step(1 + static_cast<std::int64_t>(keys.size()));
    if (std::any_of(keys.begin(), keys.end(), [&](const Value& k) { return equal(k, key); }))
      continue;
    keys.push_back(key);
    out.push_back(v);
  }
  return out;
}
Value sum(Evaluator& e, const Value& input, const Arguments& a) {
  const Bound b("sum", a, {"attribute", "start"});
  Value out = b.get("start", std::int64_t{0});
  for (const Value& v : e.elements(input))
    out = operate("+", out,
                  b.has("attribute") && !b.get("attribute").is_none()
                      ? at_path(e, v, b.get("attribute"), Undefined{})
                      : v);
  return out;
}
Value truncate(Evaluator&, const Value& input, const Arguments& a) {
  const Bound b("truncate", a, {"length", "killwords", "end", "leeway"});
  const Text t = to_text(input);
  const std::int64_t length = b.integer("length", 255), leeway = b.integer("leeway", 5);
  const std::string end = b.text("end", "...");
  const std::int64_t size = python::length(t.bytes);
  if (size <= length + leeway) return t;
  Text kept =
      sliced(t, None(), std::max<std::int64_t>(length - python::length(end), 0), None()).text();
  if (!b.truth("killwords", false)) {
    const std::size_t space = kept.bytes.rfind(' ');
    if (space != std::string::npos) kept = kept.substr(0, space);
  }
  kept.append(Text(end));
  return kept;
}
Value url_encode(Evaluator&, const Value& input, const Arguments&) {
  std::string out;
  for (const char c : to_text(input).bytes)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 ||
        std::string_view("-._~/").find(c) != std::string_view::npos)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return Text(out);
}
Value escape(Evaluator&, const Value& input, const Arguments&) {
  return python::escape(to_text(input));
}
Value safe(Evaluator&, const Value& input, const Arguments&) {
  Text t = to_text(input);
  t.is_markup = true;
  return t;
}
Value center(Evaluator& e, const Value& input, const Arguments& a) {
  const Bound b("center", a, {"width"});
  return e.call(method(to_text(input), "center"), {{b.get("width", std::int64_t{80})}, {}});
}
Value replace(Evaluator& e, const Value& input, const Arguments& a) {
  const Bound b("replace", a, {"old", "new", "count"});
  e.step(static_cast<std::int64_t>(to_text(input).size() / 64));
  return python::replace(to_text(input), to_text(b.get("old")).bytes, to_text(b.get("new")),
                         b.integer("count", -1));
}
Value first_of(Evaluator& e, const Value& input, const Arguments&) {
  const List all = e.elements(input);
  return all.empty() ? Value(Undefined{"No first item, sequence was empty."}) : all.front();
}
Value last_of(Evaluator& e, const Value& input, const Arguments&) {
  if (input.is_sequence() && input.sequence().is_generator)
    fail("'generator' object is not reversible");
  const List all = e.elements(input);
  return all.empty() ? Value(Undefined{"No last item, sequence was empty."}) : all.back();
}
Value reverse(Evaluator& e, const Value& input, const Arguments&) {
  if (input.is_text()) return sliced(input, None(), None(), std::int64_t{-1});
  Sequence all{.items = e.elements(input), .is_generator = true};
  std::reverse(all.items.begin(), all.items.end());
  return all;
}
Value items(Evaluator& e, const Value& input, const Arguments&) {
  if (input.is_undefined()) return List();
  if (!input.is_dict()) fail("Can only get item pairs from a mapping.");
  return e.call(method(input, "items"), {});
}
Value default_value(Evaluator&, const Value& input, const Arguments& a) {
  const Bound b("default", a, {"default_value", "boolean"});
  const bool use = input.is_undefined() || (b.truth("boolean", false) && !input.truth());
  return use ? b.get("default_value", Text()) : input;
}
Value absolute(Evaluator&, const Value& input, const Arguments&) {
  if (!input.is_number()) fail(fmt::format("bad operand type for abs(): '{}'", input.type_name()));
  if (input.is_float()) return std::abs(input.number());
  return input.integer() < 0 ? operate("-", std::int64_t{0}, input) : Value(input.integer());
}
Value length(Evaluator&, const Value& input, const Arguments&) { return size_of(input); }
Value to_list(Evaluator& e, const Value& input, const Arguments&) { return e.elements(input); }
Value to_string(Evaluator&, const Value& input, const Arguments&) { return to_text(input); }
Value strip(Evaluator&, const Value& input, const Arguments& a) {
  const Value chars = Bound("trim", a, {"chars"}).get("chars");
  return python::strip(to_text(input),
                       chars.is_text() ? std::optional(chars.text().bytes) : std::nullopt, true,
                       true);
}
template <python::Case kTo>
Value cased(Evaluator&, const Value& input, const Arguments&) {
  return python::cased(to_text(input), kTo);
}
/// Jinja's own title: words are cut at white space and brackets alone.
Value title(Evaluator&, const Value& input, const Arguments&) {
  const Text t = to_text(input);
  Text out;
  bool begins = true;
  for (std::size_t i = 0; i < t.size();) {
    const std::size_t n = python::character_length(t.bytes, i);
    const Text c = t.substr(i, n);
    out.append(python::cased(c, begins ? python::Case::upper : python::Case::lower));
    begins = python::is_space(python::code_point(c.bytes)) ||
             std::string_view("-({[<").find(c.bytes[0]) != std::string_view::npos;
    i += n;
  }
  return out;
}
Value sort(Evaluator& e, const Value& input, const Arguments& a) {
  return sorted(e, e.elements(input), Bound("sort", a, {"reverse", "case_sensitive", "attribute"}));
}
Value attr(Evaluator& e, const Value& input, const Arguments& a) {
  const std::string name = Bound("attr", a, {"name"}).text("name", "");
  // As upstream: attributes alone, no items.
  if (input.is_dict() || input.is_sequence() || input.is_text()) {
    if (name.starts_with("_")) fail("access to attribute '" + name + "' is unsafe");
    Value m = method(input, name);
    return m.is_undefined() ? Value(Undefined{"'" + name + "'"}) : m;
  }
  return e.attribute(input, name);
}
Value word_count(Evaluator&, const Value& input, const Arguments&) {
  std::int64_t n = 0;
  bool inside = false;
  const std::string bytes = to_text(input).bytes;
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t k = python::character_length(bytes, i);
    const std::string_view c = std::string_view(bytes).substr(i, k);
    const bool word = c == "_" || python::is_all(c, python::Kind::alnum);
    n += word && !inside ? 1 : 0;
    inside = word;
    i += k;
  }
  return n;
}

/// What it gives is a generator, as upstream's.
template <Filter kFilter>
Value lazy(Evaluator& e, const Value& input, const Arguments& a) {
  return Sequence{.items = e.elements(kFilter(e, input, a)), .is_generator = true};
}

constexpr Entry kFilters[] = {
    {"abs", absolute},
    {"attr", attr},
    {"batch", lazy<batch>},
    {"capitalize", cased<python::Case::capital>},
    {"center", center},
    {"count", length},
    {"d", default_value},
    {"default", default_value},
    {"dictsort", dict_sort},
    {"e", escape},
    {"escape", escape},
    {"first", first_of},
    {"float", to_float},
    {"groupby", group_by},
    {"indent", indent},
    {"int", to_int},
    {"items", lazy<items>},
    {"join", join},
    {"last", last_of},
    {"length", length},
    {"list", to_list},
    {"lower", cased<python::Case::lower>},
    {"map", lazy<map>},
    {"max", extreme<false>},
    {"min", extreme<true>},
    {"reject", lazy<select<false, false>>},
    {"rejectattr", lazy<select<false, true>>},
    {"replace", replace},
    {"reverse", reverse},
    {"round", round},
    {"safe", safe},
    {"select", lazy<select<true, false>>},
    {"selectattr", lazy<select<true, true>>},
    {"slice", lazy<slice>},
    {"sort", sort},
    {"string", to_string},
    {"sum", sum},
    {"title", title},
    {"tojson", tojson},
    {"trim", strip},
    {"truncate", truncate},
    {"unique", lazy<unique>},
    {"upper", cased<python::Case::upper>},
    {"urlencode", url_encode},
    {"wordcount", word_count},
};

}  // namespace

Value Evaluator::filter(std::string_view name, const Value& input, const Arguments& arguments) {
  step();
  for (const Entry& e : kFilters)
    if (e.name == name) return e.call(*this, input, arguments);
  fail(fmt::format("No filter named '{}'.", name));
}

}  // namespace strata::tokenizer::jinja
