// Products with packed arrays: at once, under jit, differentiated, batched, in a scan over layers;
// each beside the numbers themselves.
#include "strata/api/packed.h"

#include "strata/api/testing.h"

namespace strata {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

Array numbers(int seed, std::vector<std::int64_t> shape) {
  return random::normal(random::key(static_cast<std::uint64_t>(seed)), shape);
}
bool same(const Array& a, const Array& b) { return a.literal().same_bits(b.literal()); }

TEST(Packed, PacksAndUnpacks) {
  const Array x = numbers(1, {3, 512});
  for (const char* name : {"Q4_0", "Q4_1", "Q8_0", "Q4_K"}) {
    const Packed w = pack(x, BlockFormat::named(name));
    EXPECT_EQ(w.shape(), (std::vector<std::int64_t>{3, 512})) << name;
    const double error = sqrt(mean(square(unpack(w) - x))).item<double>();
    EXPECT_LT(error, name == std::string("Q8_0") ? 0.01 : 0.11) << name;
    EXPECT_GT(error, 0.001) << name;
    EXPECT_TRUE(same(pack(unpack(w), w.format).blocks, w.blocks) || name == std::string("Q4_K"))
        << name;
  }
}

TEST(Packed, ProductsAreThoseOfTheNumbers) {
  const Packed w = pack(numbers(2, {70, 96}), BlockKind::q4_1);
  const Array x = numbers(3, {5, 96}), want = matmul(x, unpack(w).T());
  const Array y = block_dot(x, w);
  EXPECT_EQ(testing::type_of(y), "f32[5,70]");
  EXPECT_LT(max(abs(y - want)).item<double>(), 1e-4);
  // Every row is the product of that row alone.
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(same(y[i], block_dot(x[i], w)));
  EXPECT_TRUE(same(y, jit([](Array a, Packed b) { return block_dot(a, b); })(x, w)));
  EXPECT_EQ(testing::type_of(block_dot(x.astype(DType::bf16), w)), "bf16[5,70]");
  EXPECT_EQ(testing::type_of(block_dot(ones({96}), w)), "f32[70]");
}

TEST(Packed, DerivativesOfX) {
  const Packed w = pack(numbers(4, {7, 64}), BlockKind::q8_0);
  const Array x = numbers(5, {3, 64}), c = numbers(6, {3, 7});
  const Array got = grad([&](Array a) { return sum(block_dot(a, w) * c); })(x);
  EXPECT_LT(max(abs(got - matmul(c, unpack(w)))).item<double>(), 1e-5);
}

TEST(Packed, ByIntegers) {
  const Packed w = pack(numbers(14, {70, 96}), BlockKind::q4_1);
  const Array x = numbers(15, {5, 96}), want = block_dot(x, w), got = block_dot(x, w, true);
  EXPECT_FALSE(same(got, want));
  EXPECT_LT(sqrt(mean(square(got - want))).item<double>(),
            0.01 * sqrt(mean(square(want))).item<double>());
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(same(got[i], block_dot(x[i], w, true)));
  EXPECT_TRUE(same(got, jit([](Array a, Packed b) { return block_dot(a, b, true); })(x, w)));
  EXPECT_TRUE(same(got, vmap([&](Array a) { return block_dot(a, w, true); })(x)));
  auto slope = [&](bool int8) {
    return grad([&](Array a) { return sum(block_dot(a, w, int8)); })(x);
  };
  EXPECT_TRUE(same(slope(true), slope(false)));
}

TEST(Packed, Batches) {
  const Packed w = pack(numbers(7, {2, 9, 64}), BlockKind::q8_0);
  const Array x = numbers(8, {2, 4, 64});
  const Array y = block_dot(x, w);  // a matrix for each
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(same(y[i], block_dot(x[i], Packed{w.blocks[i], w.format})));
  EXPECT_TRUE(same(y, vmap([](Array a, Packed b) { return block_dot(a, b); })(x, w)));
  const Packed one{w.blocks[0], w.format};
  EXPECT_TRUE(same(block_dot(x, one), vmap([&](Array a) { return block_dot(a, one); })(x)));
}

TEST(Packed, LayersOfAScan) {
  const Packed w = pack(numbers(9, {6, 64, 64}) * 0.1f, BlockKind::q4_0);
  const Array x = numbers(10, {2, 64});
  auto all = [](Array start, Packed layers) {
    return scan([](Array y, Packed layer) { return std::pair{y + block_dot(y, layer), y}; }, start,
                layers)
        .first;
  };
  Array want = x;
  for (int i = 0; i < 6; ++i) want = want + block_dot(want, Packed{w.blocks[i], w.format});
  EXPECT_TRUE(same(jit(all)(x, w), want));
}

TEST(Packed, FormatsAreCompiledEach) {
  int traced = 0;
  auto f = jit([&](Array a, Packed b) {
    ++traced;
    return block_dot(a, b);
  });
  // Both have 18 bytes a block.
  const Array blocks = pack(numbers(11, {4, 32}), BlockKind::q4_0).blocks, x = numbers(12, {32});
  const Array one = f(x, Packed{blocks, BlockKind::q4_0}),
              other = f(x, Packed{blocks, BlockKind::iq4_nl});
  EXPECT_EQ(traced, 2);
  EXPECT_FALSE(same(one, other));
}

TEST(Packed, SaysWhatIsWrong) {
  const Packed w = pack(numbers(13, {4, 64}), BlockKind::q4_0);
  EXPECT_THAT(message_of([&] { (void)block_dot(ones({3, 32}), w); }),
              HasSubstr("have 64 elements in Q4_0, those of x"));
  EXPECT_THAT(message_of([&] { (void)block_dot(ones({3, 32}), w); }), HasSubstr("packed_test.cc:"));
  EXPECT_THAT(message_of([&] { (void)pack(ones({3, 48}), BlockKind::q4_0); }),
              HasSubstr("do not divide a row of 48"));
  EXPECT_THAT(message_of([&] { (void)pack(ones({256}), BlockKind::q6_k); }),
              HasSubstr("there is no encoder for Q6_K"));
  EXPECT_THAT(message_of([&] { (void)pack(array(1.f), BlockKind::q4_0); }),
              HasSubstr("got a scalar"));
  EXPECT_THAT(message_of([&] { (void)unpack(Packed{ones({4, 18}), BlockKind::q4_0}); }),
              HasSubstr("packed blocks are bytes"));
}

}  // namespace
}  // namespace strata
