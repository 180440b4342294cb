#include "strata/loop/sizes.h"

#include <gtest/gtest.h>

#include "strata/loop/testing/random_kernel.h"
#include "strata/loop/verify.h"

namespace strata::loop {
namespace {

using testing::Buffers;

/// What the kernel computes on these contents, by its copy whose sizes stand apart.
Buffers results_with_sizes_apart(const SizedKernel& sized, Buffers contents) {
  const auto* numbers = reinterpret_cast<const std::byte*>(sized.numbers.data());
  contents.emplace_back(numbers, numbers + sized.numbers.size() * sizeof(std::int64_t));
  interpret(*sized.kernel, testing::pointers(contents), testing::random_functions());
  contents.pop_back();
  return contents;
}

class Sizes : public ::testing::TestWithParam<int> {};

TEST_P(Sizes, ApartTheyKeepTheBits) {
  for (std::uint64_t i = 0; i < 150; ++i) {
    std::uint64_t seed = static_cast<std::uint64_t>(GetParam()) * 150 + i;
    auto kernel = testing::random_kernel(seed, {}, {.calls = true});
    SizedKernel sized = with_sizes_apart(*kernel);
    Status status = verify(*sized.kernel);
    ASSERT_TRUE(status.ok()) << status.message() << "\nseed " << seed << "\n"
                             << print(*kernel) << print(*sized.kernel);
    Buffers expected = testing::random_buffers(*kernel, seed), contents = expected;
    interpret(*kernel, testing::pointers(expected), testing::random_functions());
    ASSERT_EQ(testing::difference(*kernel, expected,
                                  results_with_sizes_apart(sized, std::move(contents))),
              "")
        << "seed " << seed << "\n"
        << print(*kernel) << print(*sized.kernel);
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, Sizes, ::testing::Range(0, 4));

/// out[j][i] = in[i][j] + offset, with a column in the middle doubled.
std::unique_ptr<Kernel> turned(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  auto kernel = std::make_unique<Kernel>("turned");
  kernel->grid = 8;  // the number of points is the caller's
  Builder b(*kernel);
  Ref* in = b.parameter(DType::f32, rows * columns + offset, Ref::Mode::in);
  Ref* out = b.parameter(DType::f32, rows * columns, Ref::Mode::out);
  Index i = b.grid();
  b.vector(0, columns, 16, [&](Index j) {
    Inst* x = b.load(in, i * columns + j + offset);
    Inst* twice = b.binary(Opcode::add, x, x);
    b.store(out, j * rows + i, b.select(b.less(j, columns / 2), x, twice));
  });
  return kernel;
}

TEST(Sizes, ApartTheyLeaveOneKernelForAllShapes) {
  const std::string code = print(*with_sizes_apart(*turned(37, 50, 3)).kernel);
  EXPECT_EQ(print(*with_sizes_apart(*turned(100, 77, 5)).kernel), code);
  EXPECT_EQ(print(*with_sizes_apart(*turned(8, 4094, 1000)).kernel), code);
  EXPECT_NE(print(*with_sizes_apart(*turned(8, 4094, 0)).kernel),
            code);  // no offset: an addition less
  EXPECT_NE(print(*turned(100, 77, 5)), print(*turned(37, 50, 3)));
}

TEST(Sizes, WholeStripsStayWhole) {
  auto sum = [](std::int64_t n) {
    auto kernel = std::make_unique<Kernel>("sum");
    Builder b(*kernel);
    Ref* in = b.parameter(DType::f32, n, Ref::Mode::in);
    Ref* out = b.parameter(DType::f32, n / 16, Ref::Mode::out);
    b.vector(0, n, 16,
             [&](Index j) { b.store(out, b.div(j, 16), b.reduce(Opcode::add, b.load(in, j))); });
    return with_sizes_apart(*kernel);
  };
  EXPECT_TRUE(verify(*sum(64).kernel).ok());
  EXPECT_EQ(print(*sum(64).kernel), print(*sum(1024).kernel));
}

}  // namespace
}  // namespace strata::loop
