#include "strata/api/transform/debug.h"

#include <fmt/format.h>

#include <cctype>
#include <iostream>

#include "strata/api/lax/operations.h"

namespace strata {
namespace internal {

Array without_derivative(const Array& x) {
  return is_inexact(x.dtype()) && x.is_traced() ? lax::stop_gradient(x) : x;
}

namespace {

/// A format in pieces: text, then the number of an array and how it is written; -1 behind the last
/// text.
struct Piece {
  std::string text;
  int array;
  std::string spec;
};

std::vector<Piece> pieces_of(const std::string& format) {
  std::vector<Piece> out;
  std::string text;
  int next = 0;
  for (std::size_t i = 0; i < format.size(); ++i) {
    const bool twice = i + 1 < format.size() && format[i + 1] == format[i];
    if (format[i] == '{' && !twice) {
      const std::size_t end = format.find('}', i);
      if (end == std::string::npos)
        fail("debug.print", "\"{}\" opens a brace that nothing closes", format);
      const std::string field = format.substr(i + 1, end - i - 1),
                        number = field.substr(0, field.find(':'));
      if (number.find_first_not_of("0123456789") != std::string::npos)
        fail("debug.print", "arrays are numbered, got \"{{{}}}\" in \"{}\"", field, format);
      const int array = number.empty() ? next++ : std::stoi(number);
      out.push_back({std::exchange(text, ""), array,
                     field.find(':') == std::string::npos ? "" : field.substr(field.find(':'))});
      i = end;
      continue;
    }
    if ((format[i] == '{' || format[i] == '}') && twice) ++i;
    text += format[i];
  }
  out.push_back({text, -1, ""});
  return out;
}

std::string written(const Array& x, const std::string& spec) {
  if (spec.empty()) return x.to_string();
  if (is_inexact(x.dtype())) return fmt::format(fmt::runtime("{" + spec + "}"), x.item<double>());
  return fmt::format(fmt::runtime("{" + spec + "}"), x.item<std::int64_t>());
}

}  // namespace

void check_format(const std::string& format, std::size_t count) {
  std::vector<bool> used(count, false);
  for (const Piece& p : pieces_of(format)) {
    if (p.array < 0) continue;
    if (static_cast<std::size_t>(p.array) >= count)
      fail("debug.print", "\"{}\" asks for array {} of {}", format, p.array, count);
    used[static_cast<std::size_t>(p.array)] = true;
  }
  for (std::size_t i = 0; i < count; ++i)
    if (!used[i]) fail("debug.print", "\"{}\" does not print array {} of {}", format, i, count);
}

void print_line(const std::string& format, const std::vector<Array>& arrays) {
  std::string line;
  for (const Piece& p : pieces_of(format))
    line +=
        p.text + (p.array < 0 ? "" : written(arrays[static_cast<std::size_t>(p.array)], p.spec));
  std::cout << line + "\n" << std::flush;
}

}  // namespace internal

}  // namespace strata
