#include <gtest/gtest.h>

#include <cmath>

#include "strata/op/build.h"
#include "strata/op/calculus/jvp.h"
#include "strata/op/rules.h"
#include "strata/op/samples.h"
#include "strata/op/testing/block_laws.h"
#include "strata/op/testing/refused.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::run;

/// A convolution in words. Layouts: lhs and out "nc01", rhs "oi01", where digits are spatial
/// dimensions.
struct Case {
  const char* what;
  std::vector<std::int64_t> lhs, rhs;
  std::string lhs_spec = "nc0", rhs_spec = "oi0", out_spec = "nc0";
  Ints strides = {1}, padding = {0, 0}, lhs_dilation = {1}, rhs_dilation = {1}, reversal = {0};
  std::int64_t groups = 1, batch_groups = 1;
};

std::int64_t at(const std::string& spec, char c) { return static_cast<std::int64_t>(spec.find(c)); }
Ints spatial(const std::string& spec) {
  Ints out;
  for (std::size_t i = 0; i + 2 < spec.size(); ++i)
    out.push_back(at(spec, static_cast<char>('0' + i)));
  return out;
}
Attrs attrs_of(const Case& c) {
  return {{"input_batch_dimension", at(c.lhs_spec, 'n')},
          {"input_feature_dimension", at(c.lhs_spec, 'c')},
          {"input_spatial_dimensions", spatial(c.lhs_spec)},
          {"kernel_input_feature_dimension", at(c.rhs_spec, 'i')},
          {"kernel_output_feature_dimension", at(c.rhs_spec, 'o')},
          {"kernel_spatial_dimensions", spatial(c.rhs_spec)},
          {"output_batch_dimension", at(c.out_spec, 'n')},
          {"output_feature_dimension", at(c.out_spec, 'c')},
          {"output_spatial_dimensions", spatial(c.out_spec)},
          {"feature_group_count", c.groups},
          {"batch_group_count", c.batch_groups},
          {"window_strides", c.strides},
          {"padding", c.padding},
          {"lhs_dilation", c.lhs_dilation},
          {"rhs_dilation", c.rhs_dilation},
          {"window_reversal", c.reversal}};
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {.what = "plain", .lhs = {2, 3, 7}, .rhs = {4, 3, 3}},
      {.what = "padded, strided, dilated",
       .lhs = {1, 2, 5},
       .rhs = {3, 2, 2},
       .strides = {2},
       .padding = {3, 1},
       .lhs_dilation = {2},
       .rhs_dilation = {3}},
      {.what = "negative padding, reversed",
       .lhs = {2, 2, 8},
       .rhs = {2, 2, 3},
       .padding = {-1, -2},
       .reversal = {1}},
      {.what = "feature groups",
       .lhs = {2, 6, 5},
       .rhs = {6, 2, 2},
       .strides = {2},
       .padding = {1, 0},
       .groups = 3},
      {.what = "depthwise", .lhs = {1, 3, 6}, .rhs = {6, 1, 3}, .padding = {1, 1}, .groups = 3},
      {.what = "batch groups",
       .lhs = {6, 2, 5},
       .rhs = {3, 2, 2},
       .lhs_dilation = {2},
       .batch_groups = 3},
      {.what = "features last, two dimensions",
       .lhs = {2, 5, 6, 3},
       .rhs = {3, 2, 3, 4},
       .lhs_spec = "n01c",
       .rhs_spec = "01io",
       .out_spec = "n01c",
       .strides = {2, 1},
       .padding = {1, 1, 0, 1},
       .lhs_dilation = {1, 1},
       .rhs_dilation = {1, 2},
       .reversal = {0, 1}},
      {.what = "any order",
       .lhs = {4, 2, 5, 2},
       .rhs = {2, 3, 4, 2},
       .lhs_spec = "1cn0",  // c 2, n 5
       .rhs_spec = "i1o0",
       .out_spec = "c1n0",
       .strides = {1, 2},
       .padding = {2, 0, 1, 1},
       .lhs_dilation = {2, 1},
       .rhs_dilation = {1, 1},
       .reversal = {1, 0}},
      {.what = "no spatial dimension",
       .lhs = {3, 4},
       .rhs = {5, 4},
       .lhs_spec = "nc",
       .rhs_spec = "oi",
       .out_spec = "cn",
       .strides = {},
       .padding = {},
       .lhs_dilation = {},
       .rhs_dilation = {},
       .reversal = {}},
      {.what = "windows of all, features first",
       .lhs = {3, 4, 16},
       .rhs = {5, 3, 16},
       .lhs_spec = "cn0",
       .rhs_spec = "oi0",
       .out_spec = "nc0",
       .strides = {3},
       .reversal = {1}},
      {.what = "windows of all of one of two dimensions",
       .lhs = {3, 2, 8, 5},
       .rhs = {8, 1, 3, 6},
       .lhs_spec = "cn01",
       .rhs_spec = "01io",
       .out_spec = "n01c",
       .strides = {1, 1},
       .padding = {0, 0, 0, 0},
       .lhs_dilation = {1, 1},
       .rhs_dilation = {1, 1},
       .reversal = {0, 0}},
      {.what = "no window fits", .lhs = {2, 3, 2}, .rhs = {4, 3, 3}},
      {.what = "no features", .lhs = {2, 0, 4}, .rhs = {3, 0, 2}},
      {.what = "empty batch", .lhs = {0, 2, 4}, .rhs = {3, 2, 2}},
  };
  return all;
}

Literals operands_of(const Case& c, DType dtype, std::uint64_t seed) {
  auto literal = [&](const std::vector<std::int64_t>& sizes, std::uint64_t s) {
    return random_literal(Type(dtype, Shape::of(sizes)), s, -3, 4);
  };
  return {literal(c.lhs, seed), literal(c.rhs, seed + 1)};
}

const bool samples = add_samples("stablehlo.convolution", [](std::vector<Sample>& out) {
  auto sample = [&](const Case& c, DType operand, DType result) {
    Literals in = operands_of(c, operand, 1 + out.size());
    Block block;
    Builder b(block);
    Op& op =
        b.create("stablehlo.convolution",
                 {block.add_argument(in[0].type()), block.add_argument(in[1].type())}, attrs_of(c));
    out.push_back({.what = c.what,
                   .operands = in,
                   .attrs = attrs_of(c),
                   .results = {op.result()->type().with(result)}});
  };
  for (const Case& c : cases()) sample(c, DType::f32, DType::f32);
  for (DType t : {DType::f64, DType::bf16, DType::f16, DType::i8, DType::i32, DType::ui16})
    sample(cases()[1], t, t);
  sample(cases()[3], DType::bf16, DType::f32);
  sample(cases()[0], DType::i8, DType::i32);
});

testing::Program convolved(const Case& c) {
  return [c](Builder& b, const Values& v) {
    return Values{b.create("stablehlo.convolution", v, attrs_of(c)).result()};
  };
}

// ---- the definition, element by element --------------------------------------------------------

/// out[n, o, p...] = sum over k..., i of lhs[n', i', q...] rhs[o, i, k...], said in the letters of
/// the specification.
double element(const Case& c, const Literal& lhs, const Literal& rhs,
               const std::map<char, std::int64_t>& out) {
  std::size_t spatials = c.lhs_spec.size() - 2;
  auto size = [](const std::vector<std::int64_t>& sizes, const std::string& spec, char d) {
    return sizes[static_cast<std::size_t>(at(spec, d))];
  };
  std::int64_t outputs = size(c.rhs, c.rhs_spec, 'o'), inputs = size(c.rhs, c.rhs_spec, 'i'),
               batch = size(c.lhs, c.lhs_spec, 'n');
  std::int64_t group = out.at('c') / (outputs / (c.groups * c.batch_groups));
  std::vector<std::int64_t> window;
  for (std::size_t s = 0; s < spatials; ++s)
    window.push_back(size(c.rhs, c.rhs_spec, static_cast<char>('0' + s)));
  window.push_back(inputs);
  double sum = 0;
  for_each_index(Shape::of(window), [&](std::span<const std::int64_t> k, std::int64_t) {
    std::map<char, std::int64_t> l{
        {'n', out.at('n') + (c.batch_groups > 1 ? group * (batch / c.batch_groups) : 0)},
        {'c', k[spatials] + (c.groups > 1 ? group * inputs : 0)}},
        r{{'o', out.at('c')}, {'i', k[spatials]}};
    for (std::size_t s = 0; s < spatials; ++s) {
      char d = static_cast<char>('0' + s);
      std::int64_t position =
          out.at(d) * c.strides[s] + k[s] * c.rhs_dilation[s] - c.padding[2 * s];
      if (position < 0 || position % c.lhs_dilation[s] != 0 ||
          position / c.lhs_dilation[s] >= size(c.lhs, c.lhs_spec, d))
        return;
      l[d] = position / c.lhs_dilation[s];
      r[d] = c.reversal[s] ? window[s] - 1 - k[s] : k[s];
    }
    auto offset = [](const std::string& spec, const Literal& x,
                     const std::map<char, std::int64_t>& index) {
      std::vector<std::int64_t> place;
      for (char d : spec) place.push_back(index.at(d));
      return linear_index(place, x.shape().strides());
    };
    sum += lhs.number(offset(c.lhs_spec, lhs, l)) * rhs.number(offset(c.rhs_spec, rhs, r));
  });
  return sum;
}

TEST(Convolution, IsTheSumOfProducts) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.what);
    Literals in = operands_of(c, DType::f64, 5);
    for (Literal& x : in)
      for (std::int64_t i = 0; i < x.count(); ++i)
        x.set_number(i, std::floor(x.number(i)));  // sums are exact
    Literal got = run(in, convolved(c))[0];
    for_each_index(got.shape(), [&](std::span<const std::int64_t> index, std::int64_t i) {
      std::map<char, std::int64_t> out;
      for (std::size_t d = 0; d < index.size(); ++d) out[c.out_spec[d]] = index[d];
      EXPECT_EQ(got.number(i), element(c, in[0], in[1], out)) << "element " << i;
    });
  }
}

TEST(Convolution, ComplexNumbersMultiply) {
  Case c{.what = "", .lhs = {1, 1, 2}, .rhs = {1, 1, 2}};
  using C = std::complex<float>;
  Literal y = run({Literal::of<C>({1, 1, 2}, {C(1, 2), C(3, -1)}),
                   Literal::of<C>({1, 1, 2}, {C(0, 1), C(2, 2)})},
                  convolved(c))[0];
  EXPECT_EQ(y.span<C>()[0], C(1, 2) * C(0, 1) + C(3, -1) * C(2, 2));
}

TEST(Convolution, NarrowFloatsAccumulateInF32) {
  Case c{.what = "", .lhs = {1, 3, 1}, .rhs = {1, 3, 1}};
  Literal y =
      run({Literal::of<BFloat16>({1, 3, 1}, {BFloat16(256.f), BFloat16(1.f), BFloat16(1.f)}),
           Literal::full(Type(DType::bf16, {1, 3, 1}), 1)},
          convolved(c))[0];
  EXPECT_EQ(y.number(0), 258);
}

TEST(Convolution, SecondDerivatives) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.what);
    Literals in = operands_of(c, DType::f64, 11);
    auto f = testing::build(testing::types_of(in), [&](Builder& b, const Values& v) {
      Value* y = convolved(c)(b, v)[0];
      return Values{mul(b, y, y)};
    });
    JvpBlock g = jvp(*f, {true, true}, {true});
    Literals at = in;
    for (const Literal& x : in) at.push_back(random_literal(x.type(), 3));
    EXPECT_EQ(testing::check_laws(*g.block, at, 9), "");
  }
}

void expect_error(const Case& c, Attrs attrs, const std::string& message) {
  try {
    Block block;
    Builder b(block);
    b.create("stablehlo.convolution",
             {block.add_argument(Type(DType::f32, Shape::of(c.lhs))),
              block.add_argument(Type(DType::f32, Shape::of(c.rhs)))},
             attrs);
    ADD_FAILURE() << "no error; expected " << message;
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::says(message));
  }
}

TEST(Convolution, RefusesBrokenConstraints) {
  const Case& plain = cases()[0];
  auto broken = [&](const char* attr, ir::Attr value, const std::string& message) {
    expect_error(plain, attrs_of(plain).set(attr, std::move(value)), message);
  };
  Case other = plain;
  other.rhs = {4, 3};
  expect_error(other, attrs_of(plain), "(C1) operands must have one rank");
  broken("window_strides", Ints{1, 1}, "(C2) window_strides must have 1 entries, got 2");
  broken("window_strides", Ints{0}, "(C3) window_strides must be positive, got [0]");
  broken("padding", Ints{1}, "(C4) padding must have shape [1, 2], got 1 numbers");
  broken("lhs_dilation", Ints{}, "(C5) lhs_dilation");
  broken("lhs_dilation", Ints{-1}, "(C6) lhs_dilation");
  broken("rhs_dilation", Ints{1, 1}, "(C7) rhs_dilation");
  broken("rhs_dilation", Ints{0}, "(C8) rhs_dilation");
  broken("window_reversal", Ints{0, 0}, "(C9) window_reversal");
  broken("batch_group_count", std::int64_t{3},
         "(C10) batch_group_count 3 must divide the 2 examples (dimension 0");
  broken("feature_group_count", std::int64_t{2},
         "(C11) feature_group_count 2 must divide the 3 input features (dimension 1");
  broken("input_spatial_dimensions", Ints{2, 1}, "(C12) input_spatial_dimensions");
  broken("input_batch_dimension", std::int64_t{1}, "(C13) input dimension 1 is given twice");
  broken("input_batch_dimension", std::int64_t{3}, "(C13) input dimension 3 is out of range");
  other.rhs = {4, 2, 3};
  expect_error(
      other, attrs_of(plain),
      "(C14) the kernel takes 2 input features (dimension 1 of tensor<4x2x3xf32>), but the "
      "input has 3 (dimension 1 of tensor<2x3x7xf32>)");
  other.rhs = {3, 3, 3};
  expect_error(other, attrs_of(plain).set("batch_group_count", std::int64_t{2}),
               "(C15) batch_group_count 2 must divide");
  other.rhs = {4, 1, 3};
  expect_error(other, attrs_of(plain).set("feature_group_count", std::int64_t{3}),
               "(C16) feature_group_count 3 must divide");
  broken("kernel_spatial_dimensions", Ints{}, "(C17) kernel_spatial_dimensions");
  broken("kernel_input_feature_dimension", std::int64_t{0},
         "(C18) kernel dimension 0 is given twice");
  broken("output_spatial_dimensions", Ints{}, "(C19) output_spatial_dimensions");
  broken("output_batch_dimension", std::int64_t{-1}, "(C20) output dimension -1 is out of range");
  broken("feature_group_count", std::int64_t{0}, "(C21) feature_group_count must be positive");
  broken("batch_group_count", std::int64_t{0}, "(C22) batch_group_count must be positive");
  expect_error(plain,
               attrs_of(plain)
                   .set("batch_group_count", std::int64_t{2})
                   .set("feature_group_count", std::int64_t{3}),
               "(C23) one of");
  broken("precision_config", ir::Strings{"HIGH"}, "(C24) precision_config must have 2 entries");
  EXPECT_THROW(
      testing::build({Type(DType::f32, {2, 3, 7}), Type(DType::f64, {4, 3, 3})}, convolved(plain)),
      Error);  // (C27)
}

}  // namespace
}  // namespace strata::op
