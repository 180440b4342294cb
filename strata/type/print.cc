#include "strata/type/print.h"

#include <fmt/format.h>

#include <optional>
#include <ostream>
#include <vector>

namespace strata {
namespace {

/// The dimensions and the dtype between the brackets of tensor<...>; nothing where more stands
/// there.
std::optional<Type> tensor_of(std::string_view inside) {
  std::vector<Dim> dims;
  for (std::size_t x; (x = inside.find('x')) != inside.npos; inside.remove_prefix(x + 1)) {
    const std::string_view word = inside.substr(0, x);
    if (word == "?")
      dims.push_back(Dim::unknown());
    else if (!word.empty() && word.size() < 19 && word.find_first_not_of("0123456789") == word.npos)
      dims.push_back(Dim(std::stoll(std::string(word))));
    else
      break;  // complex<f32>
  }
  const std::optional<DType> dtype = parse_dtype(inside);
  if (!dtype) return std::nullopt;
  return Type(*dtype, Shape(std::move(dims)));
}

}  // namespace

std::string_view array_text(DType dtype) {
  if (dtype == DType::c64) return "c64";
  if (dtype == DType::c128) return "c128";
  return name(dtype);
}

std::string array_text(const Shape& shape) {
  std::string out = "[";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i) out += ',';
    const Dim& d = shape.dim(i);
    out += d.is_static() ? fmt::format("{}", d.size()) : d.is_symbolic() ? d.symbol() : "?";
  }
  return out + "]";
}

std::string array_text(const Type& type) {
  if (!type.is_tensor() || type.is_quantized()) return type.to_string();
  return std::string(array_text(type.dtype())) + array_text(type.shape());
}

std::string with_array_text(std::string_view message) {
  constexpr std::string_view kOpen = "tensor<";
  std::string out;
  for (std::size_t at; (at = message.find(kOpen)) != message.npos;) {
    out += message.substr(0, at);
    message.remove_prefix(at);
    std::size_t end = kOpen.size();
    for (int depth = 1; end < message.size() && depth > 0; ++end)
      depth += message[end] == '<' ? 1 : message[end] == '>' ? -1 : 0;
    const std::string_view whole = message.substr(0, end);
    const std::optional<Type> type =
        whole.back() == '>' ? tensor_of(whole.substr(kOpen.size(), end - kOpen.size() - 1))
                            : std::nullopt;
    out += type ? array_text(*type) : std::string(whole);
    message.remove_prefix(end);
  }
  return out + std::string(message);
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << array_text(dtype); }
std::ostream& operator<<(std::ostream& out, const Type& type) { return out << array_text(type); }

}  // namespace strata

fmt::format_context::iterator fmt::formatter<strata::DType>::format(strata::DType dtype,
                                                                    fmt::format_context& to) const {
  return fmt::formatter<std::string_view>::format(strata::array_text(dtype), to);
}
fmt::format_context::iterator fmt::formatter<strata::Type>::format(const strata::Type& type,
                                                                   fmt::format_context& to) const {
  return fmt::formatter<std::string_view>::format(strata::array_text(type), to);
}
