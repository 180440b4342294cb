// lapack_*_ffi by the room `lapack`, or by the library that STRATA_LAPACK names: A v = w v, as the
// definition says; what neither has is refused. (What JAX does with them: conformance/jax/lapack.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/ir/text/parser.h"
#include "strata/op/evaluate.h"
#include "strata/op/foreign.h"
#include "strata/op/lapack/library.h"
#include "strata/op/samples.h"

namespace strata::op {
namespace {

using ::testing::HasSubstr;

Literals run(const std::string& text, const Literals& arguments) {
  catalog();
  auto module = ir::parse(text);
  EXPECT_TRUE(module.ok()) << module.status().message();
  return evaluate((*module)->functions[0]->body, arguments);
}

/// Of matrices in column-major order, each result too.
std::string eigenvalues(const std::string& type, const std::string& real, const char* routine) {
  return fmt::format(R"(
func.func @main(%x: tensor<3x3x{0}>) -> (tensor<3x3x{0}>, tensor<3x{1}>, tensor<i32>) {{
  %0:3 = stablehlo.custom_call @lapack_{2}_ffi(%x) {{mhlo.backend_config = {{mode = 86 : ui8, uplo = 76 : ui8}}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>]}} : (tensor<3x3x{0}>) -> (tensor<3x3x{0}>, tensor<3x{1}>, tensor<i32>)
  return %0#0, %0#1, %0#2 : tensor<3x3x{0}>, tensor<3x{1}>, tensor<i32>
}})",
                     type, real, routine);
}

TEST(Lapack, what_nobody_has_is_refused_and_says_how_to_name_a_library) {
  const Result<void*> address = lapack::routine("sgenobody");
  ASSERT_FALSE(address.ok());
  EXPECT_EQ(address.status().code(), Code::unsupported);
  EXPECT_THAT(std::string(address.status().message()), HasSubstr("STRATA_LAPACK"));
}

TEST(Lapack, a_call_of_other_values_is_refused) {
  std::string text = eigenvalues("f32", "f32", "ssyevd");
  text.replace(text.find("mode = 86"), 9, "kind = 86");
  try {
    run(text, {Literal(Type(DType::f32, {3, 3}))});
    FAIL() << "a call without a mode ran";
  } catch (const foreign::Failure& e) {
    EXPECT_EQ(e.code(), Code::invalid);
  }
}

TEST(Lapack, eigenvectors_are_what_their_name_says) {
  for (auto [routine, type, real, dtype] :
       {std::tuple("ssyevd", "f32", "f32", DType::f32),
        std::tuple("dsyevd", "f64", "f64", DType::f64),
        std::tuple("cheevd", "complex<f32>", "f32", DType::c64),
        std::tuple("zheevd", "complex<f64>", "f64", DType::c128)}) {
    Literal x = random_literal(Type(dtype, {3, 3}), 5);
    auto number = [](const Literal& l, int i) {
      if (!is_complex(l.dtype())) return std::complex<double>(l.number(i));
      return std::complex<double>(real_view(l).number(2 * i), real_view(l).number(2 * i + 1));
    };
    auto hermitian = [&](int i, int j) {  // of which the lower triangle is read
      std::complex<double> a = i >= j ? number(x, 3 * i + j) : std::conj(number(x, 3 * j + i));
      return i == j ? std::complex<double>(a.real()) : a;
    };
    Literals out = run(eigenvalues(type, real, routine), {x});
    EXPECT_EQ(out[2].integer(0), 0);
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 3; ++i) {
        std::complex<double> sum = -out[1].number(j) * number(out[0], 3 * i + j);
        for (int k = 0; k < 3; ++k) sum += hermitian(i, k) * number(out[0], 3 * k + j);
        EXPECT_LT(std::abs(sum), byte_width(real_part(dtype)) == 4 ? 1e-5 : 1e-13) << routine;
      }
  }
}

}  // namespace
}  // namespace strata::op
