// Samples of the elementwise rows: each admitted dtype with ordinary numbers, a scalar, no
// elements, and every pair of edge values.
#include "strata/op/catalog.h"
#include "strata/op/elementwise/elementwise.h"
#include "strata/op/samples.h"

namespace strata::op {
namespace {

constexpr DType kStored[] = {DType::i1,  DType::i8,   DType::i16,  DType::i32,  DType::i64,
                             DType::ui8, DType::ui16, DType::ui32, DType::ui64, DType::bf16,
                             DType::f16, DType::f32,  DType::f64};

/// Where the function is smooth.
struct Domain {
  double low, high;
};

Domain domain_of(std::string_view op) {
  if (op == "log" || op == "sqrt" || op == "rsqrt" || op == "power" || op == "cbrt")
    return {0.3, 3};
  if (op == "divide" || op == "remainder") return {0.5, 4};
  if (op == "log_plus_one") return {-0.6, 3};
  if (op == "sign") return {0.7, 2.5};  // complex: bends sharply near 0
  if (op == "tan") return {-1.2, 1.2};
  if (op == "acos" || op == "asin" || op == "atanh" || op == "erf_inv") return {-0.7, 0.7};
  if (op == "acosh") return {1.3, 4};
  if (op == "digamma" || op == "lgamma") return {0.7, 5};
  return {-2.5, 2.5};
}

bool admits(const OpDef& def, int operands, DType dtype) {
  Block block;
  Values arguments;
  for (int i = 0; i < operands; ++i) arguments.push_back(block.add_argument(Type(dtype, {2})));
  try {
    def.info.infer(arguments, {}, {});
    return true;
  } catch (const Error&) {
    return false;
  }
}

int operands_of(const OpDef& def) {
  return admits(def, 1, DType::f32) || admits(def, 1, DType::i32) ? 1 : 2;
}

void add_for_dtype(const OpDef& def, int operands, DType dtype, std::vector<Sample>& out) {
  Domain domain = domain_of(short_name(def.info.name));
  if (is_integer(dtype)) domain = {is_signed(dtype) ? -9.0 : 0.0, 9};
  auto add = [&](const char* what, const Shape& shape) {
    Literals inputs;
    for (int i = 0; i < operands; ++i)
      inputs.push_back(random_literal(Type(dtype, shape), static_cast<std::uint64_t>(20 + i),
                                      domain.low, domain.high));
    out.push_back(
        {.what = fmt::format("{}, {}", what, name(dtype)), .operands = std::move(inputs)});
  };
  add("numbers", {3, 17});
  add("a scalar", {});
  add("no elements", {0, 4});
  Literals edges{edge_literal(dtype)};
  if (operands == 2) {
    auto [left, right] = edge_pairs(dtype);
    edges = {left, right};
  }
  out.push_back(
      {.what = fmt::format("edge values, {}", name(dtype)), .operands = edges, .smooth = false});
}

void add_family(std::span<const OpDef> rows) {
  for (const OpDef& row : rows)
    add_samples(row.info.name, [&row](std::vector<Sample>& out) {
      int operands = operands_of(row);
      for (DType dtype : kStored)
        if (admits(row, operands, dtype)) add_for_dtype(row, operands, dtype, out);
    });
}

const bool registered = [] {
  add_family(arithmetic_defs());
  add_family(bitwise_defs());
  add_family(function_defs());
  add_family(hyperbolic_defs());
  add_family(infinity_defs());
  add_family(rounding_defs());
  add_family(special_defs());
  add_family(trigonometric_defs());
  add_family({&mulhi_def(), 1});
  add_family({&next_after_def(), 1});
  return true;
}();

}  // namespace
}  // namespace strata::op
