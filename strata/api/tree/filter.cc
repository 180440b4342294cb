#include "strata/api/tree/filter.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <regex>

#include "strata/base/error.h"

namespace strata::tree {

namespace {
bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 19 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}
std::vector<std::string_view> elements(std::string_view path) {
  std::vector<std::string_view> out;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    out.push_back(path.substr(0, slash));
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return out;
}
std::string name_of(const KeyPath& path) {
  return keystr(path, {.simple = true, .separator = "/"});
}
}  // namespace

KeyPath parse_path(std::string_view name) {
  KeyPath out;
  for (std::string_view element : elements(name)) {
    if (is_number(element)) {
      std::size_t index = 0;
      std::from_chars(element.data(), element.data() + element.size(), index);
      out.push_back(SequenceKey{index});
    } else {
      out.push_back(GetAttrKey{std::string(element)});
    }
  }
  return out;
}

std::string key_text(const KeyEntry& key) { return name_of({key}); }

bool path_less(const KeyPath& a, const KeyPath& b) {
  const auto less = [](const KeyEntry& x, const KeyEntry& y) {
    const auto* i = std::get_if<SequenceKey>(&x);
    const auto* j = std::get_if<SequenceKey>(&y);
    if (i && j) return i->idx < j->idx;
    if (i || j) return i != nullptr;
    return key_text(x) < key_text(y);
  };
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), less);
}

Entry::Entry(KeyPath path, const Kind& kind, MetadataPtr metadata)
    : name(name_of(path)), path(std::move(path)), kind(&kind), metadata(std::move(metadata)) {}
Entry::Entry(std::string_view name, const Kind& kind, MetadataPtr metadata)
    : name(name), path(parse_path(name)), kind(&kind), metadata(std::move(metadata)) {}

Filter everything() {
  return {"everything", [](const Entry&, const Array&) { return true; }, true};
}
Filter nothing() {
  return {"nothing", [](const Entry&, const Array&) { return false; }};
}
Filter of_kind(const Kind& kind) {
  return {std::string(kind.name()),
          [&kind](const Entry& entry, const Array&) { return entry.kind->is_a(kind); }};
}
Filter with_tag(std::string tag) {
  std::string text = "tag " + tag;
  return {std::move(text), [tag = std::move(tag)](const Entry& entry, const Array&) {
            return entry.metadata && entry.metadata->tag == tag;
          }};
}
Filter path_contains(std::string key, bool exact) {
  std::string text = "path with " + key;
  return {std::move(text), [key = std::move(key), exact](const Entry& entry, const Array&) {
            return std::any_of(entry.path.begin(), entry.path.end(), [&](const KeyEntry& e) {
              const std::string element = key_text(e);
              return exact ? element == key : element.find(key) != std::string::npos;
            });
          }};
}
Filter path_in(std::vector<std::string> names) {
  std::string text = "paths";
  for (const std::string& name : names) text += " " + name;
  return {std::move(text), [names = std::move(names)](const Entry& entry, const Array&) {
            return std::find(names.begin(), names.end(), entry.name) != names.end();
          }};
}

namespace {
bool fits(std::string_view pattern, std::string_view text) {
  // The usual way: on a mismatch, the last star takes one more character.
  std::size_t p = 0, t = 0, star = std::string_view::npos, kept = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      kept = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++kept;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}
bool fits(std::span<const std::string_view> pattern, std::span<const std::string_view> path) {
  if (pattern.empty()) return path.empty();
  if (pattern[0] == "**") {
    for (std::size_t skip = 0; skip <= path.size(); ++skip)
      if (fits(pattern.subspan(1), path.subspan(skip))) return true;
    return false;
  }
  return !path.empty() && fits(pattern[0], path[0]) && fits(pattern.subspan(1), path.subspan(1));
}
}  // namespace

Filter path(std::string pattern) {
  std::string text = "path " + pattern;
  return {std::move(text), [pattern = std::move(pattern)](const Entry& entry, const Array&) {
            const std::vector<std::string_view> wanted = elements(pattern),
                                                has = elements(entry.name);
            return fits(std::span(wanted), std::span(has));
          }};
}
Filter regex(const std::string& pattern) {
  std::regex compiled;
  try {
    compiled = std::regex(pattern);
  } catch (const std::regex_error& e) {
    throw Error("tree::regex", "'{}' is no regular expression: {}", pattern, e.what());
  }
  return {"path matching " + pattern, [compiled](const Entry& entry, const Array&) {
            return std::regex_match(entry.name, compiled);
          }};
}
Filter where(Filter::Predicate predicate, std::string text) {
  return {std::move(text), std::move(predicate)};
}

Filter operator&&(const Filter& a, const Filter& b) { return all_of({a, b}); }
Filter operator||(const Filter& a, const Filter& b) { return any({a, b}); }
Filter operator!(const Filter& f) {
  return {"not " + f.text(), [f](const Entry& e, const Array& x) { return !f(e, x); }};
}

namespace {
std::string joined(const std::vector<Filter>& filters, const char* word) {
  std::string out = "(";
  for (std::size_t i = 0; i < filters.size(); ++i) {
    if (i > 0) out += word;
    out += filters[i].text();
  }
  return out + ")";
}
}  // namespace
Filter any(std::vector<Filter> filters) {
  std::string text = joined(filters, " or ");
  return {std::move(text), [filters = std::move(filters)](const Entry& e, const Array& x) {
            return std::any_of(filters.begin(), filters.end(),
                               [&](const Filter& f) { return f(e, x); });
          }};
}
Filter all_of(std::vector<Filter> filters) {
  std::string text = joined(filters, " and ");
  return {std::move(text), [filters = std::move(filters)](const Entry& e, const Array& x) {
            return std::all_of(filters.begin(), filters.end(),
                               [&](const Filter& f) { return f(e, x); });
          }};
}

}  // namespace strata::tree
