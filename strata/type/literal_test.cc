// Splats, which keep one element until all bytes are asked for, beside tensors that were filled
// element by element.
#include "strata/type/literal.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "strata/type/borrowed.h"

namespace strata {
namespace {

const Shape kShapes[] = {Shape{}, Shape{3}, Shape{0, 5000}, Shape{70, 100}, Shape{1, 9000}};

Literal filled(const Type& type, double value) {
  Literal out(type);
  for (std::int64_t i = 0; i < out.count(); ++i) out.set_number(i, value);
  return out;
}

TEST(Literal, FullIsEveryElement) {
  for (DType t : {DType::i1, DType::i4, DType::i8, DType::ui64, DType::bf16, DType::f32, DType::f64,
                  DType::c128, DType::f8E4M3FN})
    for (const Shape& shape : kShapes) {
      const Type type(t, shape);
      const Literal want = filled(type, 1), got = Literal::full(type, 1);
      EXPECT_EQ(got.is_splat(), want.is_splat());
      EXPECT_TRUE(Literal::full(type, 1).same_bits(got));
      for (std::int64_t i = 0; i < got.count(); i += 97) {
        EXPECT_EQ(got.number(i), want.number(i));
        EXPECT_EQ(got.integer(i), want.integer(i));
        EXPECT_EQ(std::memcmp(got.element(i), want.element(i), byte_width(t)), 0);
      }
      EXPECT_TRUE(got.same_bits(want));  // writes all bytes out
      EXPECT_TRUE(want.same_bits(got));
      EXPECT_EQ(std::memcmp(got.data(), want.data(), want.bytes()), 0);
      EXPECT_FALSE(got.count() > 0 && got.same_bits(Literal::full(type, 0)));
    }
}

TEST(Literal, ASplatIsWrittenOutOnceForAllCopies) {
  const Literal splat = Literal::full(Type(DType::f32, {100, 100}), 2.5), copy = splat;
  const std::byte* places[4];
  std::vector<std::thread> threads;
  for (const std::byte*& place : places)
    threads.emplace_back([&place, copy] { place = copy.data(); });
  for (std::thread& t : threads) t.join();
  for (const std::byte* place : places) EXPECT_EQ(place, splat.data());
}

TEST(Literal, ASplatIsUniqueUntilItIsCopied) {
  Literal splat = Literal::full(Type(DType::i32, {5000}), 7);
  EXPECT_TRUE(splat.is_unique());
  {
    Literal copy = splat;
    EXPECT_FALSE(splat.is_unique());
    EXPECT_FALSE(copy.is_unique());
  }
  EXPECT_TRUE(splat.is_unique());
  {
    Literal view(Type(DType::i32, {50, 100}), splat.storage());
    EXPECT_FALSE(splat.is_unique());
  }
  splat.mutable_span<std::int32_t>()[4999] = 8;
  EXPECT_FALSE(splat.is_splat());
  EXPECT_EQ(splat.integer(4998), 7);
  EXPECT_EQ(splat.integer(4999), 8);
  EXPECT_TRUE(splat.is_unique());
}

TEST(Literal, BorrowedBytesAreNeverUnique) {
  std::array<float, 3> memory{1, 2, 3};
  int released = 0;
  {
    const Literal l(
        Type(DType::f32, {3}),
        borrowed_bytes(reinterpret_cast<const std::byte*>(memory.data()), [&] { ++released; }));
    EXPECT_FALSE(l.is_unique());
    EXPECT_EQ(static_cast<const void*>(l.data()), memory.data());
    const Literal copy = l;
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
  const Literal without(Type(DType::f32, {3}),
                        borrowed_bytes(reinterpret_cast<const std::byte*>(memory.data()), {}));
  EXPECT_FALSE(without.is_unique());
}

}  // namespace
}  // namespace strata
