// What the programs of the reference's examples print with: `SHOW(EXPRESSION)` prints the
// expression and its value.
#pragma once

#include <strata/core.h>

#include <iostream>

namespace strata::examples {

template <class T>
void print(std::ostream& out, const T& value);
template <class T>
void print(std::ostream& out, const std::vector<T>& values) {
  out << "{";
  for (std::size_t i = 0; i < values.size(); ++i) print(out << (i ? ", " : ""), values[i]);
  out << "}";
}
template <class... T>
void print(std::ostream& out, const std::tuple<T...>& values) {
  out << "{";
  bool first = true;
  std::apply(
      [&](const auto&... each) { ((print(out << (first ? "" : ", "), each), first = false), ...); },
      values);
  out << "}";
}
template <class A, class B>
void print(std::ostream& out, const std::pair<A, B>& values) {
  print(out, std::tie(values.first, values.second));
}
template <class T>
void print(std::ostream& out, const T& value) {
  if constexpr (std::same_as<T, bool>)
    out << (value ? "true" : "false");
  else if constexpr (std::same_as<T, DType>)
    out << name(value);
  else if constexpr (tree::Fields<T>)
    print(out, tree::leaves<Array>(value));
  else if constexpr (std::same_as<T, std::optional<DType>>)
    out << name(*value);
  else
    out << value;
}

template <class F>
void show(const char* text, F f) {
  std::cout << ">>> " << text << "\n";
  print(std::cout, f());
  std::cout << "\n";
}

}  // namespace strata::examples

#define SHOW(...) ::strata::examples::show(#__VA_ARGS__, [] { return __VA_ARGS__; })
