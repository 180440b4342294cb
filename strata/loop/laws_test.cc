// Laws that every kernel keeps, on random ones.
#include <gtest/gtest.h>

#include "strata/loop/interpreter.h"
#include "strata/loop/loop.h"
#include "strata/loop/testing/random_kernel.h"
#include "strata/loop/verify.h"

namespace strata::loop {
namespace {

using testing::Buffers;
using testing::random_kernel;

constexpr BuilderOptions kPlain = {false, false};

Buffers results(const Kernel& kernel, std::uint64_t seed) {
  Buffers buffers = testing::random_buffers(kernel, seed);
  interpret(kernel, testing::pointers(buffers), testing::random_functions());
  return buffers;
}

class Laws : public ::testing::TestWithParam<int> {
 protected:
  /// Runs `law` on this shard's seeds.
  template <class Law>
  void for_seeds(Law law) {
    for (std::uint64_t i = 0; i < 150; ++i) {
      std::uint64_t seed = static_cast<std::uint64_t>(GetParam()) * 150 + i;
      law(seed);
      if (HasFailure())
        FAIL() << "seed " << seed << "\n" << print(*random_kernel(seed, {}, {.calls = true}));
    }
  }
};

TEST_P(Laws, BuiltKernelsVerify) {
  for_seeds([](std::uint64_t seed) {
    for (BuilderOptions options :
         {BuilderOptions{}, BuilderOptions{true, false}, BuilderOptions{false, true}, kPlain}) {
      Status status = verify(*random_kernel(seed, options, {.calls = true}));
      EXPECT_TRUE(status.ok()) << status.message();
    }
  });
}

TEST_P(Laws, PrintingAndParsingIsAFixpoint) {
  for_seeds([](std::uint64_t seed) {
    for (BuilderOptions options : {BuilderOptions{}, kPlain}) {
      auto kernel = random_kernel(seed, options, {.calls = true});
      auto parsed = parse(print(*kernel));
      ASSERT_TRUE(parsed.ok()) << parsed.status().message();
      EXPECT_EQ(print(**parsed), print(*kernel));
      EXPECT_EQ(testing::difference(*kernel, results(*kernel, seed), results(**parsed, seed)), "");
    }
  });
}

TEST_P(Laws, FoldingAndSharingKeepTheBits) {
  for_seeds([](std::uint64_t seed) {
    auto plain = random_kernel(seed, kPlain, {.calls = true});
    Buffers expected = results(*plain, seed);
    for (BuilderOptions options :
         {BuilderOptions{}, BuilderOptions{true, false}, BuilderOptions{false, true}}) {
      auto kernel = random_kernel(seed, options, {.calls = true});
      EXPECT_EQ(testing::difference(*kernel, expected, results(*kernel, seed)), "")
          << options.fold << options.share << "\n"
          << print(*plain);
    }
  });
}

void count(const Body& body, std::vector<int>& counts) {
  for (const Inst* inst : body.insts) {
    ++counts[static_cast<std::size_t>(inst->code)];
    for (const auto& inner : inst->bodies) count(*inner, counts);
  }
}
TEST(RandomKernel, HasEveryOpcodeOverTheSeeds) {
  std::vector<int> counts(static_cast<std::size_t>(Opcode::call) + 1);
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    count(random_kernel(seed, {}, {.calls = true})->body, counts);
  for (std::size_t code = 0; code < counts.size(); ++code)
    EXPECT_GT(counts[code], 0) << name(static_cast<Opcode>(code));
}

INSTANTIATE_TEST_SUITE_P(Seeds, Laws, ::testing::Range(0, 8));

}  // namespace
}  // namespace strata::loop
