// lapack_*_ffi by the room `lapack`, or by the library that STRATA_LAPACK names: A v = w v, as the
// definition says; what neither has is refused. (What JAX does with them: conformance/jax/lapack.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/ir/text/parser.h"
#include "strata/op/evaluate.h"
#include "strata/op/foreign/foreign.h"
#include "strata/op/foreign/lapack/library.h"
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

/// A number of a real or complex array.
std::complex<double> number(const Literal& l, std::int64_t i) {
  if (!is_complex(l.dtype())) return l.number(i);
  return {real_view(l).number(2 * i), real_view(l).number(2 * i + 1)};
}
double tolerance(DType dtype) { return byte_width(real_part(dtype)) == 4 ? 1e-5 : 1e-13; }

struct Element {
  char letter;
  const char *type, *real;
  DType dtype;
};
constexpr Element kElements[] = {{'s', "f32", "f32", DType::f32},
                                 {'d', "f64", "f64", DType::f64},
                                 {'c', "complex<f32>", "f32", DType::c64},
                                 {'z', "complex<f64>", "f64", DType::c128}};

constexpr const char* kColumns = "dense<[1, 2, 0]> : tensor<3xindex>";  // two matrices, by columns

/// A call of two 3x3 matrices whose memory its first result takes.
std::string on_matrices(const Element& e, const std::string& routine, const std::string& config,
                        const std::vector<std::string>& others,
                        const std::vector<std::string>& layouts) {
  const std::string a = fmt::format("tensor<2x3x3x{}>", e.type);
  std::string results = a, order = kColumns, names = "%0#0";
  for (std::size_t i = 0; i < others.size(); ++i) {
    results += ", " + others[i];
    order += ", " + layouts[i];
    names += fmt::format(", %0#{}", i + 1);
  }
  return fmt::format(
      "func.func @main(%x: {0}) -> ({1}) {{\n  %0:{2} = stablehlo.custom_call @lapack_{3}_ffi(%x) "
      "{{mhlo.backend_config = {{{4}}}, operand_layouts = [{5}], output_operand_aliases = "
      "[#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, "
      "operand_tuple_indices = []>], result_layouts = [{6}]}} : ({0}) -> ({1})\n  return {7} : "
      "{1}\n}}\n",
      a, results, others.size() + 1, routine, config, kColumns, order, names);
}
constexpr const char *kRows = "dense<[1, 0]> : tensor<2xindex>",
                     *kList = "dense<0> : tensor<1xindex>";

/// Z T Z^H = A.
TEST(Lapack, schur_forms_are_similar) {
  for (const Element& e : kElements) {
    const bool complex = is_complex(e.dtype);
    std::vector<std::string> others{fmt::format("tensor<2x3x3x{}>", e.type)}, layouts{kColumns};
    for (int i = complex ? 1 : 0; i < 2; ++i) {
      others.push_back(fmt::format("tensor<2x3x{}>", e.type));
      layouts.emplace_back(kRows);
    }
    for (int i = 0; i < 2; ++i) {
      others.emplace_back("tensor<2xi32>");
      layouts.emplace_back(kList);
    }
    const Literal x = random_literal(Type(e.dtype, {2, 3, 3}), 5);
    const std::string text = on_matrices(e, fmt::format("{}gees", e.letter),
                                         "mode = 86 : ui8, sort = 78 : ui8", others, layouts);
    const Literals out = run(text, {x});
    for (std::int64_t k = 0; k < 2; ++k) {
      EXPECT_EQ(out.back().integer(k), 0);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          std::complex<double> sum = -number(x, 9 * k + 3 * i + j);
          for (int p = 0; p < 3; ++p)
            for (int q = 0; q < 3; ++q)
              sum += number(out[1], 9 * k + 3 * i + p) * number(out[0], 9 * k + 3 * p + q) *
                     std::conj(number(out[1], 9 * k + 3 * j + q));
          EXPECT_LT(std::abs(sum), tolerance(e.dtype)) << e.letter;
        }
    }
    std::string sorted = text;
    sorted.replace(sorted.find("sort = 78"), 9, "sort = 83");
    EXPECT_THROW(run(sorted, {x}), foreign::Failure);
  }
}

/// A v = w v, and u^H A = w u^H.
TEST(Lapack, eigenvectors_of_general_matrices_are_what_their_name_says) {
  for (const Element& e : kElements) {
    const bool complex = is_complex(e.dtype);
    const std::string numbers = fmt::format("complex<{}>", e.real),
                      a = fmt::format("2x3x3x{}", e.type);
    std::string values, orders, names;
    for (int i = 0; i < (complex ? 1 : 2); ++i) {
      values += fmt::format("tensor<2x3x{}>, ", complex ? numbers : e.real);
      orders += std::string(kRows) + ", ";
      names += fmt::format("%0#{}, ", i);
    }
    const std::string results =
        values + fmt::format("tensor<2x3x3x{0}>, tensor<2x3x3x{0}>, tensor<2xi32>", numbers);
    const int parts = complex ? 1 : 2;
    const Literal x = random_literal(Type(e.dtype, {2, 3, 3}), 9);
    const Literals out =
        run(fmt::format(
                "func.func @main(%x: tensor<{0}>) -> ({1}) {{\n  %0:{2} = stablehlo.custom_call "
                "@lapack_{3}geev_ffi(%x) {{mhlo.backend_config = {{compute_left = 86 : ui8, "
                "compute_right = 86 : ui8}}, operand_layouts = [{4}], result_layouts = [{5}{4}, "
                "{4}, {6}]}} : (tensor<{0}>) -> ({1})\n  return {7}%0#{8}, %0#{9}, %0#{10} : "
                "{1}\n}}\n",
                a, results, parts + 3, e.letter, kColumns, orders, kList, names, parts, parts + 1,
                parts + 2),
            {x});
    const Literal &left = out[out.size() - 3], &right = out[out.size() - 2];
    for (std::int64_t k = 0; k < 2; ++k) {
      EXPECT_EQ(out.back().integer(k), 0);
      for (int j = 0; j < 3; ++j) {
        const std::complex<double> w =
            complex ? number(out[0], 3 * k + j)
                    : std::complex<double>(out[0].number(3 * k + j), out[1].number(3 * k + j));
        for (int i = 0; i < 3; ++i) {
          std::complex<double> of_right = -w * number(right, 9 * k + 3 * i + j),
                               of_left = -w * std::conj(number(left, 9 * k + 3 * i + j));
          for (int p = 0; p < 3; ++p) {
            of_right += number(x, 9 * k + 3 * i + p) * number(right, 9 * k + 3 * p + j);
            of_left += std::conj(number(left, 9 * k + 3 * p + j)) * number(x, 9 * k + 3 * p + i);
          }
          EXPECT_LT(std::abs(of_right), 4 * tolerance(e.dtype)) << e.letter;
          EXPECT_LT(std::abs(of_left), 4 * tolerance(e.dtype)) << e.letter;
        }
      }
    }
  }
}

/// Reductions by unitary similarity keep the trace of A and of A^2; what is below is reflectors.
TEST(Lapack, hessenberg_and_tridiagonal_forms_are_similar) {
  for (const Element& e : kElements) {
    const Literal x = random_literal(Type(e.dtype, {2, 3, 3}), 7);
    const std::string taus = fmt::format("tensor<2x2x{}>", e.type);
    const Literals hessenberg =
        run(on_matrices(e, fmt::format("{}gehrd", e.letter), "high = 3 : i32, low = 1 : i32",
                        {taus, "tensor<2xi32>"}, {kRows, kList}),
            {x});
    const Literals tridiagonal =
        run(on_matrices(e, fmt::format("{}{}trd", e.letter, is_complex(e.dtype) ? "he" : "sy"),
                        "uplo = 76 : ui8",
                        {fmt::format("tensor<2x3x{}>", e.real),
                         fmt::format("tensor<2x2x{}>", e.real), taus, "tensor<2xi32>"},
                        {kRows, kRows, kRows, kList}),
            {x});
    for (std::int64_t k = 0; k < 2; ++k) {
      EXPECT_EQ(hessenberg[2].integer(k), 0);
      EXPECT_EQ(tridiagonal[4].integer(k), 0);
      auto a = [&](int i, int j) { return number(x, 9 * k + 3 * i + j); };
      auto h = [&](int i, int j) {
        return i > j + 1 ? std::complex<double>() : number(hessenberg[0], 9 * k + 3 * i + j);
      };
      auto s = [&](int i, int j) {  // of which the lower triangle is read
        return i == j ? std::complex<double>(a(i, i).real())
                      : (i > j ? a(i, j) : std::conj(a(j, i)));
      };
      auto t = [&](int i, int j) {
        return i == j                 ? number(tridiagonal[1], 3 * k + i)
               : std::abs(i - j) == 1 ? number(tridiagonal[2], 2 * k + std::min(i, j))
                                      : std::complex<double>();
      };
      std::complex<double> traces[2] = {}, squares[2] = {};
      for (int i = 0; i < 3; ++i) {
        traces[0] += a(i, i) - h(i, i);
        traces[1] += s(i, i) - t(i, i);
        for (int j = 0; j < 3; ++j) {
          squares[0] += a(i, j) * a(j, i) - h(i, j) * h(j, i);
          squares[1] += s(i, j) * s(j, i) - t(i, j) * t(j, i);
        }
      }
      for (std::complex<double> difference : {traces[0], traces[1], squares[0], squares[1]})
        EXPECT_LT(std::abs(difference), 4 * tolerance(e.dtype)) << e.letter;
    }
  }
}

TEST(Lapack, tridiagonal_systems_are_solved) {
  for (const Element& e : kElements) {
    const std::string diagonal = fmt::format("tensor<2x4x{}>", e.type),
                      x = fmt::format("tensor<2x4x3x{}>", e.type);
    std::string aliases;
    for (int i = 0; i < 4; ++i)
      aliases += fmt::format(
          "{}#stablehlo.output_operand_alias<output_tuple_indices = [{}], operand_index = {}, "
          "operand_tuple_indices = []>",
          i == 0 ? "" : ", ", i, i);
    const std::string text = fmt::format(
        "func.func @main(%l: {0}, %d: {0}, %u: {0}, %b: {1}) -> ({1}, tensor<2xi32>) {{\n"
        "  %0:5 = stablehlo.custom_call @lapack_{2}gtsv_ffi(%l, %d, %u, %b) "
        "{{mhlo.backend_config = {{}}, operand_layouts = [{3}, {3}, {3}, {4}], "
        "output_operand_aliases = [{5}], result_layouts = [{3}, {3}, {3}, {4}, {6}]}} : ({0}, {0}, "
        "{0}, {1}) -> ({0}, {0}, {0}, {1}, tensor<2xi32>)\n"
        "  return %0#3, %0#4 : {1}, tensor<2xi32>\n}}\n",
        diagonal, x, e.letter, kRows, kColumns, aliases, kList);
    Literals given;
    for (std::uint64_t seed : {1, 2, 3})
      given.push_back(random_literal(Type(e.dtype, {2, 4}), seed));
    given.push_back(random_literal(Type(e.dtype, {2, 4, 3}), 4));
    const Literals out = run(text, given);
    for (std::int64_t k = 0; k < 2; ++k) {
      EXPECT_EQ(out[1].integer(k), 0);
      for (int c = 0; c < 3; ++c)
        for (int i = 0; i < 4; ++i) {
          auto solution = [&](int row) { return number(out[0], 12 * k + 3 * row + c); };
          std::complex<double> sum =
              number(given[1], 4 * k + i) * solution(i) - number(given[3], 12 * k + 3 * i + c);
          if (i > 0) sum += number(given[0], 4 * k + i) * solution(i - 1);
          if (i < 3) sum += number(given[2], 4 * k + i) * solution(i + 1);
          EXPECT_LT(std::abs(sum), 100 * tolerance(e.dtype)) << e.letter;
        }
    }
  }
}

}  // namespace
}  // namespace strata::op
