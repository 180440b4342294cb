#include "strata/conformance/check_lines.h"

namespace strata::conformance {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

/// Without blanks at the ends, one blank for several within.
std::string squeezed(std::string_view text) {
  std::string out;
  bool blank = false;
  for (char c : text) {
    if (c == ' ' || c == '\t' || c == '\r') {
      blank = !out.empty();
      continue;
    }
    if (blank) out += ' ';
    blank = false;
    out += c;
  }
  return out;
}

}  // namespace

std::vector<CheckLine> check_lines(std::string_view program, std::string_view prefix) {
  std::vector<CheckLine> out;
  for (std::string_view line : lines_of(program)) {
    std::string start = "// " + std::string(prefix);
    std::size_t at = line.find(start);
    if (at == std::string_view::npos) continue;
    line.remove_prefix(at + start.size());
    bool next = line.substr(0, 5) == "-NEXT";
    if (next) line.remove_prefix(5);
    if (line.substr(0, 9) == "{LITERAL}") line.remove_prefix(9);
    if (line.substr(0, 1) == ":") out.push_back({next, squeezed(line.substr(1))});
  }
  return out;
}

std::string first_unmatched(const std::vector<CheckLine>& checks, std::string_view output) {
  std::vector<std::string> lines;
  for (std::string_view line : lines_of(output)) lines.push_back(squeezed(line));
  std::size_t at = 0;  // the line after the last match
  for (const CheckLine& check : checks) {
    auto has = [&](std::size_t line) { return lines[line].find(check.text) != std::string::npos; };
    if (!check.next)
      while (at < lines.size() && !has(at)) ++at;
    if (at >= lines.size() || !has(at))
      return (check.next ? "CHECK-NEXT: " : "CHECK: ") + check.text;
    ++at;
  }
  return "";
}

std::string run_option(std::string_view file, std::string_view name) {
  for (std::string_view line : lines_of(file)) {
    if (line.substr(0, 29) != "// RUN: stablehlo-translate %") continue;
    std::string option = "--" + std::string(name) + "=\"";
    std::size_t begin = line.find(option);
    if (begin == std::string_view::npos) continue;
    begin += option.size();
    std::size_t end = line.find('"', begin);
    if (end != std::string_view::npos) return std::string(line.substr(begin, end - begin));
  }
  return "";
}

}  // namespace strata::conformance
