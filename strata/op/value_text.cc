#include "strata/op/value_text.h"

#include <fmt/format.h>

#include "strata/type/number.h"

namespace strata::op {
namespace {

std::string float_element(const std::byte* at, DType dtype) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, byte_width(dtype));
  return float_text(bits, dtype);
}

std::string element(const Literal& x, std::int64_t i) {
  const std::byte* at = x.data() + static_cast<std::size_t>(i) * byte_width(x.dtype());
  if (is_float(x.dtype())) return float_element(at, x.dtype());
  if (is_complex(x.dtype())) {
    DType part = real_part(x.dtype());
    return fmt::format("[{}, {}]", float_element(at, part),
                       float_element(at + byte_width(part), part));
  }
  if (is_bool(x.dtype())) return x.integer(i) != 0 ? "true" : "false";
  if (is_unsigned(x.dtype())) return fmt::format("{}", static_cast<std::uint64_t>(x.integer(i)));
  return fmt::format("{}", x.integer(i));
}

/// Dimension `dim` of the elements from `at` on, indented.
void block(std::string& out, const Literal& x, int dim, std::int64_t& at, int indent) {
  std::string margin(static_cast<std::size_t>(indent), ' ');
  std::int64_t size = x.shape()[dim];
  out += margin + "[";
  bool rows = dim + 1 < x.shape().rank() && size > 0;
  for (std::int64_t i = 0; i < size; ++i) {
    if (rows) {
      out += i == 0 ? "\n" : ",\n";
      block(out, x, dim + 1, at, indent + 2);
    } else {
      out += (i == 0 ? "" : ", ") + element(x, at++);
    }
  }
  out += rows ? "\n" + margin + "]" : "]";
}

}  // namespace

std::string value_text(const Literal& value) {
  std::string type = value.type().to_string();
  if (value.shape().rank() == 0) return fmt::format("{} {{{}}}", type, element(value, 0));
  std::string out = type + " {\n";
  std::int64_t at = 0;
  block(out, value, 0, at, 2);
  return out + "\n}";
}

}  // namespace strata::op
