// What is stated to be affine is, element by element, as the reference computes it; random programs
// of what index arithmetic is made of.
#include "strata/pass/affine.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "strata/op/build.h"
#include "strata/op/evaluate.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;

/// Whether `made` is found to be affine; what is found is what it is.
bool is_affine(const std::function<Value*(Builder&)>& made) {
  Block f;
  Builder b(f);
  Value* v = made(b);
  f.results = {v};
  int steps = 100;
  const std::optional<Affine> found = affine(v, steps);
  if (!found) return false;
  const Literal want = op::evaluate(f, {})[0];
  const std::vector<std::int64_t> strides = v->shape().strides();
  for (std::int64_t i = 0; i < want.count(); ++i) {
    std::int64_t n = found->constant;
    for (int d = 0; d < v->rank(); ++d)
      n += found->factors[static_cast<std::size_t>(d)] *
           (i / strides[static_cast<std::size_t>(d)] % v->shape()[d]);
    EXPECT_EQ(n, want.integer(i)) << "element " << i;
  }
  return true;
}

Value* positions(Builder& b, int dim, DType dtype = DType::i32) {
  return op::iota(b, Type(dtype, {4, 1, 6}), dim);
}
/// What is below zero counts from the end, as JAX writes it.
Value* from_end(Builder& b, Value* i, std::int64_t size) {
  return op::select(b, op::compare(b, i, op::full_like(b, i, 0), "LT"),
                    op::add(b, i, op::full_like(b, i, static_cast<double>(size))), i);
}

TEST(Affine, PositionsAndWhatIsMadeOfThem) {
  for (int d : {0, 1, 2}) EXPECT_TRUE(is_affine([&](Builder& b) { return positions(b, d); })) << d;
  EXPECT_TRUE(is_affine([](Builder& b) { return positions(b, 2, DType::i64); }));
  EXPECT_TRUE(is_affine([](Builder& b) { return op::sub(b, positions(b, 0), positions(b, 2)); }));
  EXPECT_TRUE(is_affine([](Builder& b) {
    return op::transpose(b, op::add(b, positions(b, 0), op::full_like(b, positions(b, 0), -3)),
                         {2, 0, 1});
  }));
  EXPECT_TRUE(is_affine([](Builder& b) { return op::reshape(b, positions(b, 2), Shape{4, 6}); }));
  EXPECT_TRUE(is_affine([](Builder& b) {
    return op::broadcast_in_dim(b, op::iota(b, Type(DType::i32, {6}), 0), Shape{2, 6}, {1});
  }));
  EXPECT_TRUE(is_affine([](Builder& b) { return from_end(b, positions(b, 2), 6); }));
  EXPECT_TRUE(is_affine([](Builder& b) {
    return from_end(b, op::sub(b, positions(b, 2), op::full_like(b, positions(b, 2), 6)), 6);
  }));
  Literal numbers(Type(DType::i32, {3, 2}));
  for (std::int64_t i = 0; i < 6; ++i) numbers.set_integer(i, 7 - 2 * (i / 2) + 5 * (i % 2));
  EXPECT_TRUE(is_affine([&](Builder& b) { return op::constant(b, numbers); }));
  numbers.set_integer(5, 0);
  EXPECT_FALSE(is_affine([&](Builder& b) { return op::constant(b, numbers); }));
}

// A comparison of positions with a number is decided where it is the same for all of them, and only
// there.
TEST(Affine, ComparisonsAtTheirBounds) {
  int decided = 0;
  for (const char* direction : {"LT", "LE", "GT", "GE", "EQ", "NE"})
    for (int bound = -1; bound <= 6; ++bound) {
      SCOPED_TRACE(std::string(direction) + " " + std::to_string(bound));
      decided += is_affine([&](Builder& b) {
        Value* i = positions(b, 2);
        return op::select(b, op::compare(b, i, op::full_like(b, i, bound), direction),
                          op::add(b, i, op::full_like(b, i, 10)), op::full_like(b, i, 3));
      });
    }
  EXPECT_EQ(decided, 12);  // LT, LE, GT and GE below, at and above the ends
}

TEST(Affine, NothingElse) {
  EXPECT_FALSE(is_affine([](Builder& b) { return op::mul(b, positions(b, 0), positions(b, 0)); }));
  EXPECT_FALSE(is_affine([](Builder& b) { return op::reshape(b, positions(b, 2), Shape{24}); }))
      << "starts again";
  EXPECT_FALSE(is_affine([](Builder& b) { return op::iota(b, Type(DType::i8, {200}), 0); }))
      << "wraps";
  EXPECT_FALSE(is_affine([](Builder& b) {
    return op::sub(b, positions(b, 0, DType::ui32), positions(b, 2, DType::ui32));
  })) << "wraps";
  EXPECT_FALSE(is_affine([](Builder& b) {
    return op::add(b, positions(b, 2), op::full_like(b, positions(b, 2), 2147483645));
  })) << "wraps";
  EXPECT_FALSE(is_affine([](Builder& b) {
    return from_end(b, op::sub(b, positions(b, 2), op::full_like(b, positions(b, 2), 3)), 6);
  })) << "some below zero";
}

TEST(Affine, RandomPrograms) {
  std::mt19937 random(20260723);
  auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int found = 0;
  for (int turn = 0; turn < 400; ++turn) {
    const int size = 1 + below(8);
    std::function<Value*(Builder&, int)> make = [&](Builder& b, int depth) -> Value* {
      const Type type(below(4) ? DType::i32 : DType::i64, {4, 1, 6});
      std::vector<Value*> values = {op::iota(b, type, below(3)),
                                    op::full_like(b, op::iota(b, type, 0), below(21) - 10)};
      for (int i = 0; i < depth; ++i) {
        Value *x = values[static_cast<std::size_t>(below(static_cast<int>(values.size())))],
              *y = values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
        static const char* directions[] = {"LT", "LE", "GT", "GE", "EQ", "NE"};
        switch (below(4)) {
          case 0: values.push_back(op::add(b, x, y)); break;
          case 1: values.push_back(op::sub(b, x, y)); break;
          case 2:
            values.push_back(op::select(b, op::compare(b, x, y, directions[below(6)]), y, x));
            break;
          default:
            values.push_back(op::transpose(b, op::transpose(b, x, {2, 0, 1}), {1, 2, 0}));
            break;
        }
      }
      return values.back();
    };
    found += is_affine([&](Builder& b) { return make(b, size); });
  }
  EXPECT_GT(found, 100);
}

}  // namespace
}  // namespace strata::pass
