// Conversions in machine code as in the reference evaluator: floats to integers saturate and give 0
// for NaN (every float of 16 bits, and those of 32 and 64 around the ends of each integer type);
// f64 to f16, bf16 and narrower floats rounds once.
#include <cmath>
#include <limits>

#include "strata/compile/compile_testing.h"

namespace strata::compile {
namespace {

/// Numbers around the least and the greatest integer of up to 32 bits, and what is no number.
std::vector<double> ends() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> out{0.0, -0.0, 0.5, -0.5, kInfinity, -kInfinity, std::nan(""), 1e30, -1e30};
  for (int bits : {7, 8, 15, 16, 31, 32})
    for (double sign : {1.0, -1.0})
      for (double off : {-2.0, -1.0, -0.75, -0.5, 0.0, 0.25, 0.75, 1.0, 2.0})
        out.push_back(sign * std::ldexp(1.0, bits) + off);
  return out;
}

void expect_the_same(const Literal& x) {
  ir::Block f;
  ir::Builder b(f);
  ir::Value* from = f.add_argument(x.type());
  for (DType to : {DType::i8, DType::ui8, DType::i16, DType::ui16, DType::i32, DType::ui32})
    f.results.push_back(op::convert(b, from, to));
  testing::expect_same_bits(testing::run_compiled(f, {x}), op::evaluate(f, std::vector{x}),
                            std::string(name(x.dtype())));
}

TEST(Convert, FloatsToIntegersSaturate) {
  const std::vector<double> numbers = ends();
  for (DType from : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    Literal x(Type(from, {static_cast<std::int64_t>(numbers.size())}));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      x.set_number(static_cast<std::int64_t>(i), numbers[i]);
    expect_the_same(x);
  }
  for (DType from : {DType::bf16, DType::f16}) {
    Literal all(Type(from, {1 << 16}));
    for (int i = 0; i < 1 << 16; ++i)
      reinterpret_cast<std::uint16_t*>(all.mutable_data())[i] = static_cast<std::uint16_t>(i);
    expect_the_same(all);
  }
}

/// The middle between neighbours of the narrow type and its own neighbours in f64.
TEST(Convert, AnF64RoundsOnce) {
  std::vector<double> numbers = ends();
  for (int exponent = -160; exponent <= 140; ++exponent)
    for (double kept : {1 + 0x1p-11, 1 + 0x1.8p-10, 1 + 0x1p-8, 1 + 0x1.8p-7, 1 + 0x1p-3, 1.5})
      for (double beside : {-0x1p-52, -0x1p-26, 0.0, 0x1p-50, 0x1p-25})
        for (double sign : {1.0, -1.0})
          numbers.push_back(std::ldexp(sign * (kept + beside), exponent));
  Literal x(Type(DType::f64, {static_cast<std::int64_t>(numbers.size())}));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    x.set_number(static_cast<std::int64_t>(i), numbers[i]);
  ir::Block f;
  ir::Builder b(f);
  ir::Value* from = f.add_argument(x.type());
  for (DType to :
       {DType::f16, DType::bf16, DType::f8E4M3FN, DType::f8E5M2, DType::f8E8M0FNU, DType::f4E2M1FN})
    f.results.push_back(op::convert(b, from, to));
  testing::expect_same_bits(testing::run_compiled(f, {x}), op::evaluate(f, std::vector{x}), "f64");
}

}  // namespace
}  // namespace strata::compile
