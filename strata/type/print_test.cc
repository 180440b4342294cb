#include "strata/type/print.h"

#include <gtest/gtest.h>

#include <sstream>

namespace strata {
namespace {

std::string printed(const auto& x) {
  std::ostringstream out;
  out << x;
  EXPECT_EQ(out.str(), fmt::format("{}", x));
  return out.str();
}

TEST(Print, TypesReadAsInJax) {
  EXPECT_EQ(printed(Type(DType::f32, {2, 3})), "f32[2,3]");
  EXPECT_EQ(printed(Type::scalar(DType::i1)), "i1[]");
  EXPECT_EQ(printed(Type(DType::c64, {0})), "c64[0]");
  EXPECT_EQ(printed(Type(DType::f32, Shape({Dim::symbolic("B"), Dim::unknown(), Dim(4)}))),
            "f32[B,?,4]");
  EXPECT_EQ(printed(Type::token()), "!stablehlo.token");
}

TEST(Print, DtypesAreTheirEnumerators) {
  EXPECT_EQ(printed(DType::bf16), "bf16");
  EXPECT_EQ(printed(DType::ui8), "ui8");
  EXPECT_EQ(printed(DType::c128), "c128");
}

TEST(Print, MessagesAboutProgramsReadAsThoseAboutArrays) {
  EXPECT_EQ(with_array_text("got tensor<2x?xf32> and tensor<complex<f32>>, (C1)"),
            "got f32[2,?] and c64[], (C1)");
  EXPECT_EQ(with_array_text("no type"), "no type");
  // What has no such form stays.
  for (const char* other :
       {"tensor<2x!quant.uniform<i8:f32, 5.0e-01>>", "tensor<2x?xf32, #stablehlo.bounds<?, 3>>",
        "tensor<", "tensor<>", "tensor<2x3", "tensor<99999999999999999999xf32>"})
    EXPECT_EQ(with_array_text(other), other);
}

}  // namespace
}  // namespace strata
