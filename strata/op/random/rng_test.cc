// Random numbers: the bits that XLA gives, samples, constraints.
#include <cmath>

#include "strata/op/build.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"
#include "strata/op/testing/refused.h"

namespace strata::op {
namespace {

Literal state_of(std::vector<std::uint64_t> words) {
  return Literal::of<std::uint64_t>(Shape{static_cast<std::int64_t>(words.size())}, words);
}
Attrs algorithm(const char* name) { return {{"rng_algorithm", std::string(name)}}; }

const bool bits_registered =
    add_samples("stablehlo.rng_bit_generator", [](std::vector<Sample>& out) {
      auto add = [&](const char* what, const char* name, std::vector<std::uint64_t> state,
                     Type bits) {
        Literal s = state_of(std::move(state));
        out.push_back(
            {.what = what, .operands = {s}, .attrs = algorithm(name), .results = {s.type(), bits}});
      };
      add("threefry, an even dimension", "THREE_FRY", {7, ~std::uint64_t{0}},
          Type(DType::ui32, {3, 4, 5}));
      add("threefry, odd dimensions", "THREE_FRY", {7, 9}, Type(DType::ui32, {3, 5}));
      add("threefry, 64 bits", "THREE_FRY", {7, 9}, Type(DType::ui64, {5}));
      add("threefry, a scalar of 8 bits", "THREE_FRY", {7, 9}, Type(DType::i8, Shape{}));
      add("philox, two words of state", "DEFAULT", {7, ~std::uint64_t{0}}, Type(DType::ui32, {7}));
      add("philox, three words of state", "PHILOX", {7, ~std::uint64_t{0}, 3},
          Type(DType::i64, {2, 3}));
      add("philox, 16 bits, many", "PHILOX", {7, 8}, Type(DType::ui16, {9001}));
      add("philox, 4 bits", "PHILOX", {7, 8}, Type(DType::ui4, {9}));
      add("no elements", "THREE_FRY", {7, 8}, Type(DType::ui32, {0, 3}));
    });

const bool rng_registered = add_samples("stablehlo.rng", [](std::vector<Sample>& out) {
  auto add = [&](const char* what, const char* distribution, Type type, double a, double b) {
    Literal shape(Type(DType::i64, {type.rank()}));
    for (int d = 0; d < type.rank(); ++d) shape.set_integer(d, type.shape()[d]);
    Type scalar = Type::scalar(type.dtype());
    out.push_back({.what = what,
                   .operands = {Literal::full(scalar, a), Literal::full(scalar, b), shape},
                   .attrs = {{"rng_distribution", std::string(distribution)}},
                   .results = {type},
                   .batchable = false});
  };
  add("uniform", "UNIFORM", Type(DType::f32, {40}), -1, 2);
  add("uniform f16", "UNIFORM", Type(DType::f16, {8}), 0, 1);
  add("uniform integers", "UNIFORM", Type(DType::i32, {3, 5}), -2, 9);
  add("normal", "NORMAL", Type(DType::f64, {6}), 1, 2);
  add("no elements", "NORMAL", Type(DType::f32, {0}), 0, 1);
});

/// State and bits that follow a state.
Literals generated(const char* name, const Literal& state, Type bits) {
  Block block;
  Builder b(block);
  Op& op = b.create(def("stablehlo.rng_bit_generator").info, {block.add_argument(state.type())},
                    algorithm(name), {}, {state.type(), std::move(bits)});
  block.results = op.results();
  return evaluate(block, std::vector<Literal>{state});
}

TEST(rng_bit_generator, threefry_is_xla) {
  Literals r = generated("THREE_FRY", state_of({3, 3}), Type::scalar(DType::ui64));
  EXPECT_EQ(r[1].integer(0), 3349939604322698703);
  EXPECT_EQ(r[0].integer(1), 4);
  // Salmon et al.'s known answers: all bits of key and counter set.
  r = generated("THREE_FRY", state_of({~std::uint64_t{0}, ~std::uint64_t{0}}),
                Type(DType::ui32, {2}));
  EXPECT_EQ(r[1].integer(0), 0x1cb996fc);
  EXPECT_EQ(r[1].integer(1), 0xbb002be7);
}

TEST(rng_bit_generator, philox_is_salmon_et_al) {
  Literals r = generated("PHILOX", state_of({0, 0, 0}), Type(DType::ui32, {5}));
  EXPECT_EQ(r[1].integer(0), 0x6627e8d5);
  EXPECT_EQ(r[1].integer(1), 0xe169c58d);
  EXPECT_EQ(r[1].integer(2), 0xbc57ac4c);
  EXPECT_EQ(r[1].integer(3), 0x9b00dbd8);
  EXPECT_EQ(r[0].integer(1), 2);
}

TEST(rng_bit_generator, goes_on_where_it_stopped) {
  Literal start = state_of({5, ~std::uint64_t{0}, 8});
  Literals whole = generated("PHILOX", start, Type(DType::ui32, {8}));
  Literals first = generated("PHILOX", start, Type(DType::ui32, {4})),
           second = generated("PHILOX", first[0], Type(DType::ui32, {4}));
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(second[1].integer(i), whole[1].integer(4 + i));
  EXPECT_TRUE(second[0].same_bits(whole[0]));
}

TEST(rng, normal_numbers_have_their_mean_and_deviation) {
  constexpr std::int64_t kCount = 20000;
  for (DType dtype : {DType::f32, DType::f64}) {
    const Type scalar = Type::scalar(dtype);
    Block block;
    Builder b(block);
    Values v{block.add_argument(scalar), block.add_argument(scalar),
             constant(b, Literal::of<std::int64_t>({1}, {kCount}))};
    block.results =
        b.create(def("stablehlo.rng").info, v, {{"rng_distribution", std::string("NORMAL")}}, {},
                 {Type(dtype, {kCount})})
            .results();
    Literal x = evaluate(block, std::vector{Literal::full(scalar, 3), Literal::full(scalar, 2)})[0];
    double sum = 0, squares = 0, within = 0;
    for (std::int64_t i = 0; i < kCount; ++i) {
      const double from_mean = x.number(i) - 3;
      sum += from_mean, squares += from_mean * from_mean, within += std::abs(from_mean) < 2;
    }
    EXPECT_NEAR(sum / kCount, 0, 0.07);
    EXPECT_NEAR(squares / kCount, 4, 0.2);
    EXPECT_NEAR(within / kCount, 0.6827, 0.02) << "within one deviation";
  }
}

using rng_bit_generator_ = testing::Constraint;
TEST_F(rng_bit_generator_, c1) {
  EXPECT_REFUSED(create("stablehlo.rng_bit_generator", {array(DType::ui64, {2})},
                        algorithm("PHILOX"), {Type(DType::ui64, {3}), Type(DType::ui8, {2})}),
                 "rng_bit_generator: (C1)");
}
TEST_F(rng_bit_generator_, c2) {
  EXPECT_REFUSED(create("stablehlo.rng_bit_generator", {array(DType::ui64, {3})},
                        algorithm("THREE_FRY"), {Type(DType::ui64, {3}), Type(DType::ui8, {2})}),
                 "(C2) THREE_FRY takes a state of 2 words");
  EXPECT_REFUSED(create("stablehlo.rng_bit_generator", {array(DType::ui64, {4})},
                        algorithm("PHILOX"), {Type(DType::ui64, {4}), Type(DType::ui8, {2})}),
                 "(C2) PHILOX takes a state of 2 or 3 words");
}

class rng_ : public testing::Constraint {
 protected:
  Op& draw(Value* a, Value* b, Value* shape, const char* distribution, Type out) {
    return create("stablehlo.rng", {a, b, shape}, {{"rng_distribution", std::string(distribution)}},
                  {std::move(out)});
  }
};
TEST_F(rng_, c1) {
  EXPECT_REFUSED(draw(f32({}), array(DType::f64, {}), i32({1}), "UNIFORM", Type(DType::f32, {2})),
                 "rng: (C1)");
}
TEST_F(rng_, c2) {
  EXPECT_REFUSED(draw(i32({}), i32({}), i32({1}), "NORMAL", Type(DType::i32, {2})),
                 "(C2) NORMAL takes floats");
}
TEST_F(rng_, c3) {
  EXPECT_REFUSED(draw(f32({}), f32({}), i32({2}), "NORMAL", Type(DType::f32, {2})),
                 "(C3) 2 sizes are given");
}

}  // namespace
}  // namespace strata::op
