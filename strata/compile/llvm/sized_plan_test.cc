#include "strata/compile/llvm/sized_plan.h"

#include <gtest/gtest.h>

#include "strata/base/thread_pool.h"
#include "strata/compile/llvm/kernel_testing.h"
#include "strata/loop/sizes.h"

namespace strata::compile {
namespace {

/// Machine code of kernels whose sizes stand apart has the interpreter's bits.
TEST(SizedPlan, KernelsWithSizesApartGiveTheInterpretersBits) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    auto kernel = loop::testing::random_kernel(seed);
    loop::testing::Buffers contents = loop::testing::random_buffers(*kernel, seed);
    loop::SizedKernel sized = loop::with_sizes_apart(*kernel);
    for (const auto& ref : kernel->refs)
      sized.kernel->refs[static_cast<std::size_t>(ref->id)]->size = ref->size;  // what is compared
    const auto* numbers = reinterpret_cast<const std::byte*>(sized.numbers.data());
    contents.emplace_back(numbers, numbers + sized.numbers.size() * sizeof(std::int64_t));
    ASSERT_EQ(testing::difference_from_interpreter(testing::plain_host(), *sized.kernel, contents),
              "")
        << "seed " << seed << "\n"
        << loop::print(*sized.kernel);
  }
}

/// Quotients and remainders by a number from a buffer, in lanes and alone, near multiples and at
/// the ends of the range.
TEST(SizedPlan, IndicesAreDividedByNumbersOfABuffer) {
  constexpr std::int64_t kLength = 2003;
  for (std::int64_t divisor : {std::int64_t{2}, std::int64_t{3}, std::int64_t{7},
                               std::int64_t{1000}, std::int64_t{65537}, std::int64_t{INT32_MAX}}) {
    for (std::int64_t first :
         {std::int64_t{0}, std::min<std::int64_t>(INT32_MAX - kLength, divisor - 1),
          std::min<std::int64_t>(INT32_MAX - kLength, divisor * 1000 - 5)}) {
      loop::Kernel kernel("divide");
      loop::Builder b(kernel);
      loop::Ref* in = b.parameter(DType::i64, 2, loop::Ref::Mode::in);
      loop::Ref* out = b.parameter(DType::i64, 4 * kLength, loop::Ref::Mode::out);
      loop::Inst* by = b.value(b.index_of(b.load(in, 0), 1, INT32_MAX));
      loop::Index begin = b.index_of(b.load(in, 1), 0, INT32_MAX - kLength);
      auto both = [&](loop::Index i, std::int64_t base) {
        b.store(out, i + base, b.binary(loop::Opcode::div, b.value(begin + i), by));
        b.store(out, i + base + kLength, b.binary(loop::Opcode::rem, b.value(begin + i), by));
      };
      b.vector(0, kLength, 16, [&](loop::Index i) { both(i, 0); });
      b.for_(0, kLength, 1, [&](loop::Index i) { both(i, 2 * kLength); });
      std::vector<std::int64_t> given{divisor, first}, found(4 * kLength);
      void* refs[] = {given.data(), found.data()};
      compile_kernel_for(testing::plain_host(), kernel)(refs, 0, 1);
      for (std::int64_t i = 0; i < kLength; ++i) {
        const auto at = static_cast<std::size_t>(i), n = static_cast<std::size_t>(kLength);
        ASSERT_EQ(found[at], (first + i) / divisor);
        ASSERT_EQ(found[at + n], (first + i) % divisor);
        ASSERT_EQ(found[at + 2 * n], (first + i) / divisor);
        ASSERT_EQ(found[at + 3 * n], (first + i) % divisor);
      }
    }
  }
}

}  // namespace
}  // namespace strata::compile
