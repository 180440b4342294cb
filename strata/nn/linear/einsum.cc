#include "strata/nn/linear/einsum.h"

#include <algorithm>

#include "strata/nn/dtypes.h"

namespace strata::nn {

namespace {

/// Subscripts without blanks. Throws Error unless they are "lhs,rhs->result".
std::string checked(std::string text) {
  std::erase(text, ' ');
  if (text.find("->") == std::string::npos || std::count(text.begin(), text.end(), ',') != 1)
    strata::internal::fail("Einsum", "subscripts need two operands and \"->\", got \"{}\"", text);
  return text;
}

/// The sizes that the bias has along the axes of the result: those of the kernel's labels, else 1.
std::vector<std::int64_t> bias_shape(const std::string& text, const Array& x, const Array& kernel) {
  const std::size_t comma = text.find(','), arrow = text.find("->");
  const std::string lhs = text.substr(0, comma), rhs = text.substr(comma + 1, arrow - comma - 1),
                    result = text.substr(arrow + 2);
  const auto dots_of = [](const std::string& labels, int rank) {
    if (labels.find("...") == std::string::npos) return 0;
    return rank - static_cast<int>(labels.size() - 3);
  };
  const int of_kernel = dots_of(rhs, kernel.ndim());
  const int of_result = std::max(dots_of(lhs, x.ndim()), of_kernel);
  // Axes of the kernel by label; those that dots stand for count from the last.
  std::vector<std::int64_t> shape;
  const auto size_of = [&](char label) {
    std::int64_t axis = 0;
    for (std::size_t i = 0; i < rhs.size(); ++i) {
      if (rhs[i] == '.') {
        axis += of_kernel;
        i += 2;
      } else if (rhs[i] == label) {
        return kernel.shape(axis);
      } else {
        ++axis;
      }
    }
    return std::int64_t{1};
  };
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i] != '.') {
      shape.push_back(size_of(result[i]));
      continue;
    }
    const auto first = static_cast<std::int64_t>(rhs.find("..."));
    for (int k = 0; k < of_result; ++k) {
      const int place = k - (of_result - of_kernel);
      shape.push_back(place < 0 ? 1 : kernel.shape(first + place));
    }
    i += 2;
  }
  return shape;
}

}  // namespace

Einsum::Einsum(std::string subscripts, const Sizes& kernel_shape, Rngs& rngs,
               const EinsumOptions& o)
    : subscripts(checked(std::move(subscripts))), product(o.product) {
  kernel = Param(o.kernel_init(rngs("params"), kernel_shape, o.param_dtype), o.kernel_metadata);
  if (o.bias_shape)
    bias = Param(o.bias_init(rngs("params"), *o.bias_shape, o.param_dtype), o.bias_metadata);
}

Array Einsum::operator()(const Array& x) const { return (*this)(x, subscripts); }

Array Einsum::operator()(const Array& x, const std::string& given) const {
  const ModuleScope scope(*this, "Einsum");
  const std::string text = checked(given);
  const DType met = bias ? canonicalize_dtype({x, kernel, *bias}, product.dtype)
                         : canonicalize_dtype({x, kernel}, product.dtype);
  const Array y = nn::einsum(text, x, kernel, product.in(met));
  if (!bias) return scope.returns(y, x);
  return scope.returns(y + numpy::reshape(astype(*bias, met), bias_shape(text, x, kernel)), x);
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::Einsum)
