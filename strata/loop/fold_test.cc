// Identities of the Builder hold bit for bit at the edges: every binary operation on an edge value
// and a constant, folded and plain.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "strata/loop/interpreter.h"
#include "strata/loop/loop.h"
#include "strata/loop/semantics.h"

namespace strata::loop {
namespace {

using semantics::Bits;

struct Case {
  Opcode code;
  DType dtype;
  Bits constant;
  bool constant_is_left,
      constant_is_older;  // of two operands the Builder may look at the older one first
};

/// y[i] = x[i] op constant, or the other way round.
std::vector<Bits> results(const Case& c, const std::vector<Bits>& values, BuilderOptions options) {
  auto n = static_cast<std::int64_t>(values.size());
  std::size_t width = byte_width(c.dtype);
  Kernel kernel("k");
  Builder b(kernel, options);
  Ref *x = b.parameter(c.dtype, n, Ref::Mode::in), *y = b.parameter(c.dtype, n, Ref::Mode::out);
  for (std::int64_t i = 0; i < n; ++i) {
    Inst* constant = c.constant_is_older ? b.constant_bits(c.dtype, c.constant) : nullptr;
    Inst* value = b.load(x, i);
    if (!constant) constant = b.constant_bits(c.dtype, c.constant);
    b.store(
        y, i,
        c.constant_is_left ? b.binary(c.code, constant, value) : b.binary(c.code, value, constant));
  }
  std::vector<std::byte> in(values.size() * width), out(in.size());
  for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(&in[i * width], &values[i], width);
  void* buffers[] = {in.data(), out.data()};
  interpret(kernel, buffers);
  std::vector<Bits> bits(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(&bits[i], &out[i * width], width);
  return bits;
}

void expect_equal_at(DType dtype, const std::vector<Bits>& values,
                     const std::vector<Opcode>& codes) {
  auto is_nan = [&](Bits bits) {
    return is_float(dtype) && std::isnan(semantics::widen(dtype, bits));
  };
  for (Opcode code : codes)
    for (Bits constant : values)
      for (int order = 0; order < 4; ++order) {
        Case c{code, dtype, constant, order % 2 == 1, order / 2 == 1};
        std::vector<Bits> folded = results(c, values, {}),
                          plain = results(c, values, {false, false});
        for (std::size_t i = 0; i < values.size(); ++i)
          EXPECT_TRUE(folded[i] == plain[i] || (is_nan(folded[i]) && is_nan(plain[i])))
              << name(code) << " of " << std::hex << values[i] << " and " << constant
              << (c.constant_is_left ? " on the left" : " on the right") << ": " << folded[i]
              << ", plain " << plain[i];
      }
}

TEST(FoldAtTheEdges, Floats) {
  const std::vector<Opcode> kCodes = {Opcode::add, Opcode::sub, Opcode::mul, Opcode::div,
                                      Opcode::rem, Opcode::min, Opcode::max};
  std::vector<Bits> f32, f64;
  for (double v : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 0x1p127, 0x1p-126, 0x1p-149, 3e38, HUGE_VAL,
                   std::nan("")})
    for (double x : {v, -v}) f32.push_back(semantics::of(static_cast<float>(x)));
  for (double v : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 0x1p1023, 0x1p-1022, 0x1p-1074, 1e308,
                   HUGE_VAL, std::nan("")})
    for (double x : {v, -v}) f64.push_back(semantics::of(x));
  expect_equal_at(DType::f32, f32, kCodes);
  expect_equal_at(DType::f64, f64, kCodes);
}

TEST(FoldAtTheEdges, Integers) {
  const std::vector<Opcode> kCodes = {Opcode::add, Opcode::sub, Opcode::mul, Opcode::div,
                                      Opcode::rem, Opcode::min, Opcode::max, Opcode::and_,
                                      Opcode::or_, Opcode::xor_};
  expect_equal_at(DType::i8, {0, 1, 2, 3, 7, 0x7e, 0x7f, 0x80, 0x81, 0xfe, 0xff}, kCodes);
  expect_equal_at(DType::ui32, {0, 1, 2, 3, 7, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff},
                  kCodes);
  expect_equal_at(DType::i64,
                  {0, 1, 2, 3, 7, 0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffffffe,
                   0xffffffffffffffff},
                  kCodes);
}

}  // namespace
}  // namespace strata::loop
