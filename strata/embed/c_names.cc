#include "strata/embed/c_names.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace strata::embed {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

/// Of C++20, C23, and the macros of <complex.h>; those with two underscores cannot come up.
const std::set<std::string_view>& keywords() {
  static const std::set<std::string_view> all = {"alignas",
                                                 "alignof",
                                                 "and",
                                                 "and_eq",
                                                 "asm",
                                                 "auto",
                                                 "bitand",
                                                 "bitor",
                                                 "bool",
                                                 "break",
                                                 "case",
                                                 "catch",
                                                 "char",
                                                 "char16_t",
                                                 "char32_t",
                                                 "char8_t",
                                                 "class",
                                                 "co_await",
                                                 "co_return",
                                                 "co_yield",
                                                 "compl",
                                                 "concept",
                                                 "const",
                                                 "const_cast",
                                                 "consteval",
                                                 "constexpr",
                                                 "constinit",
                                                 "continue",
                                                 "decltype",
                                                 "default",
                                                 "delete",
                                                 "do",
                                                 "double",
                                                 "dynamic_cast",
                                                 "else",
                                                 "enum",
                                                 "explicit",
                                                 "export",
                                                 "extern",
                                                 "false",
                                                 "float",
                                                 "for",
                                                 "friend",
                                                 "goto",
                                                 "if",
                                                 "inline",
                                                 "int",
                                                 "long",
                                                 "mutable",
                                                 "namespace",
                                                 "new",
                                                 "noexcept",
                                                 "not",
                                                 "not_eq",
                                                 "nullptr",
                                                 "operator",
                                                 "or",
                                                 "or_eq",
                                                 "private",
                                                 "protected",
                                                 "public",
                                                 "register",
                                                 "reinterpret_cast",
                                                 "requires",
                                                 "restrict",
                                                 "return",
                                                 "short",
                                                 "signed",
                                                 "sizeof",
                                                 "static",
                                                 "static_assert",
                                                 "static_cast",
                                                 "struct",
                                                 "switch",
                                                 "template",
                                                 "this",
                                                 "thread_local",
                                                 "throw",
                                                 "true",
                                                 "try",
                                                 "typedef",
                                                 "typeid",
                                                 "typename",
                                                 "typeof",
                                                 "union",
                                                 "unsigned",
                                                 "using",
                                                 "virtual",
                                                 "void",
                                                 "volatile",
                                                 "wchar_t",
                                                 "while",
                                                 "xor",
                                                 "xor_eq",
                                                 "I",
                                                 "complex",
                                                 "imaginary",
                                                 "linux",
                                                 "unix",
                                                 "main",
                                                 "std"};
  return all;
}

/// Runs of letters, digits and underscores.
std::vector<std::string> words(std::string_view path) {
  std::vector<std::string> out;
  bool inside = false;
  for (char c : path) {
    const bool part = is_letter(c) || is_digit(c);
    if (part && !inside) out.emplace_back();
    if (part) out.back() += c;
    inside = part;
  }
  return out;
}

/// All words joined; a leading number is left out where `short_form` and words follow, else told
/// what it counts.
std::string field(const std::string& path, const char* kind, bool short_form) {
  std::vector<std::string> parts = words(path);
  if (short_form && parts.size() > 1 && is_digit(parts[0][0]) && is_letter(parts[1][0]))
    parts.erase(parts.begin());
  std::string out;
  for (const std::string& p : parts) out += (out.empty() ? "" : "_") + p;
  if (out.empty() || is_digit(out[0])) out = kind + out;
  while (out.find("__") != std::string::npos)
    out.erase(out.find("__"), 1);  // two underscores belong to the compiler
  if (out[0] == '_') out = kind + out;
  return keywords().contains(out) ? out + "_" : out;
}

}  // namespace

bool is_identifier(std::string_view name) {
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter(c) || is_digit(c);
  }) && !keywords().contains(name);
}

std::string identifier_of(std::string_view name) {
  std::string out;
  for (char c : name) out += is_letter(c) || is_digit(c) ? c : '_';
  while (out.size() > 0 && out.front() == '_') out.erase(out.begin());
  while (out.size() > 0 && out.back() == '_') out.pop_back();
  return is_identifier(out) ? out : "";
}

std::vector<std::string> field_names(const std::vector<std::string>& inputs,
                                     const std::vector<std::string>& outputs) {
  std::vector<std::string> brief, full;
  for (const auto* ports : {&inputs, &outputs})
    for (const std::string& path : *ports) {
      brief.push_back(field(path, ports == &inputs ? "in" : "out", true));
      full.push_back(field(path, ports == &inputs ? "in" : "out", false));
    }
  std::vector<std::string> out;
  std::set<std::string> taken;
  for (std::size_t i = 0; i < brief.size(); ++i) {
    std::string name = std::count(brief.begin(), brief.end(), brief[i]) > 1 ? full[i] : brief[i];
    const std::string first = name;
    for (int n = 2; !taken.insert(name).second; ++n) name = first + "_" + std::to_string(n);
    out.push_back(name);
  }
  return out;
}

}  // namespace strata::embed
