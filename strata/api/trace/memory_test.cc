// Results for which no system has memory: one message each, with operation, type, bytes, the
// largest arrays that there are, the user's line and what to do.
#include <gmock/gmock.h>

#include <regex>

#include "strata/api/testing.h"

namespace strata {
namespace {

using testing::message_of;

constexpr const char* kRemedy =
    "; make it smaller or of a narrower dtype, let go of arrays that are not needed any more, or "
    "compute it in parts (lax::map with batch_size)";
constexpr std::int64_t kMany = std::int64_t{1} << 30;

/// The message without the arrays that there are, which other tests may have left.
std::string without_arrays(const std::string& message) {
  static const std::regex arrays("; the largest arrays in memory: [^;]*");
  return std::regex_replace(message, arrays, "");
}

/// The message of an expression on the line of the call.
#define EXPECT_NO_MEMORY(text, expression)                           \
  EXPECT_EQ(without_arrays(message_of([&] { (void)(expression); })), \
            std::string(text) + kRemedy + " [at memory_test.cc:" + std::to_string(__LINE__) + "]")

TEST(Memory, OfAnEagerResult) {
  const Array x = array(2.f);
  EXPECT_NO_MEMORY(
      "broadcast_in_dim: there is no memory for the result f32[1073741824,1073741824] of "
      "4611686018427387904 bytes (4 EiB)",
      zeros({kMany, kMany}));
  for (int again = 0; again < 2; ++again)  // compiled, and found again
    EXPECT_NO_MEMORY(
        "broadcast_in_dim: there is no memory for the result f32[1073741824,1073741824] of "
        "4611686018427387904 bytes (4 EiB)",
        broadcast_to(x, {kMany, kMany}));
  const Array row = zeros({1 << 24}), column = row.reshape({1 << 24, 1});
  EXPECT_NO_MEMORY(
      "add: there is no memory for the result f32[16777216,16777216] of 1125899906842624 bytes (1 "
      "PiB)",
      column + row);
  EXPECT_EQ(sum(x * 3).item<float>(), 6.f);  // what fits goes on
}

TEST(Memory, OfAJittedResult) {
  const auto f = jit([](Array x) {
    const Array wide = broadcast_to(x, {kMany, kMany});
    return std::pair(x + 1, wide * x);
  });
  const int line = __LINE__ - 2;  // of the product
  const std::string found = message_of([&] { (void)f(2.f); });
  EXPECT_EQ(without_arrays(found),
            "multiply: there is no memory for the result f32[1073741824,1073741824] of "
            "4611686018427387904 bytes (4 EiB)" +
                std::string(kRemedy) + " [at memory_test.cc:" + std::to_string(line) + "]");
  EXPECT_EQ(message_of([&] { (void)f(2.f); }), found);
}

TEST(Memory, NamesTheLargestArrays) {
  const Array pair[2] = {ones({3, 1 << 20}) * 2.f, ones({3, 1 << 20}) * 3.f};
  const Array one = ones({5, 1 << 20}) * 2.f;
  const auto there = ::testing::MatchesRegex(
      ".*; the largest arrays in memory: .*1 x 20971520 bytes .20 MiB., .*"
      "2 x 12582912 bytes .12 MiB..*; make it smaller.*");
  EXPECT_THAT(message_of([&] { (void)broadcast_to(one, {kMany, 5, 1 << 20}); }), there);
  const auto f = jit([](Array x) { return broadcast_to(x, {kMany, 5, 1 << 20}) * 2.f; });
  EXPECT_THAT(message_of([&] { (void)f(one); }), there);
}

TEST(Memory, OfNumbersThatTheHostMakes) {
  EXPECT_NO_MEMORY(
      "linspace: there is no memory for the result f32[1152921504606846976] of 4611686018427387904 "
      "bytes (4 EiB)",
      linspace(0, 1, std::int64_t{1} << 60));
}

}  // namespace
}  // namespace strata
