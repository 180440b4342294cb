// What jit tells of its programs: graph, costs, memory, machine code; and why it compiles again.
#include "strata/api/transform/stages.h"

#include "strata/api/lax.h"
#include "strata/api/numpy.h"
#include "strata/api/testing.h"
#include "strata/api/transform/jit.h"

namespace strata {
namespace {

namespace snp = strata::numpy;
using ::testing::HasSubstr;
using testing::message_of;
using ::testing::Not;
using testing::shows_names;

Array layer(Array w, Array x) { return tanh(snp::matmul(x, w)) * 2; }

TEST(Stages, LoweredProgramsAreCompiledAndRun) {
  const auto f = jit(layer, {.name = "layer"});
  const Array w = ones({3, 4}), x = ones({5, 3});
  const auto lowered = f.lower(w, x);
  EXPECT_THAT(lowered.as_text(), HasSubstr("module @jit_layer"));
  EXPECT_EQ(f.cache_size(), 0);
  const auto compiled = lowered.compile();
  EXPECT_EQ(f.cache_size(), 1);
  EXPECT_EQ(compiled(w, x).to_vector<float>(), f(w, x).to_vector<float>());
  EXPECT_EQ(f.cache_size(), 1) << "the call found what lower compiled";
  EXPECT_THAT(message_of([&] { (void)compiled(w, ones({6, 3})); }),
              HasSubstr("argument 1 was compiled as f32[5,3], got f32[6,3]"));
}

/// Costs follow from the definition: 2 m n k operations of the product, one for each element of the
/// product by 2, and tanh's.
TEST(Stages, CostAnalysis) {
  const auto product = jit([](Array w, Array x) { return snp::matmul(x, w); });
  for (auto [m, k, n] : {std::array{5, 3, 4}, std::array{50, 30, 40}}) {
    const auto lowered = product.lower(ones({k, n}), ones({m, k}));
    EXPECT_EQ(lowered.cost_analysis().flops, 2.0 * m * n * k);
    EXPECT_EQ(lowered.compile().cost_analysis().flops, 2.0 * m * n * k);
    EXPECT_EQ(lowered.compile().cost_analysis().bytes_accessed, 4.0 * (m * k + k * n + m * n));
  }
  const auto fused = jit([](Array x) { return (x + 1) * 2 - x; }).lower(ones({100}));
  EXPECT_EQ(fused.compile().cost_analysis().bytes_accessed, 4.0 * 200)
      << "what is fused is neither written nor read";
  EXPECT_GT(fused.cost_analysis().bytes_accessed, 4.0 * 200);
  EXPECT_EQ(fused.cost_analysis().flops, 300);
}

TEST(Stages, MemoryAnalysis) {
  const auto keeps = jit([](Array x, Array y) { return std::pair(x + y, sum(y)); })
                         .lower(ones({100}), ones({100}))
                         .compile()
                         .memory_analysis();
  EXPECT_EQ(keeps.argument_size_in_bytes, 800);
  EXPECT_EQ(keeps.output_size_in_bytes, 404);
  EXPECT_EQ(keeps.alias_size_in_bytes, 0);
  EXPECT_GT(keeps.generated_code_size_in_bytes, 0);
  const auto donates = jit([](Array x, Array y) { return x + y; }, {.donate_argnums = {0}})
                           .lower(ones({100}), ones({100}))
                           .compile()
                           .memory_analysis();
  EXPECT_EQ(donates.alias_size_in_bytes, 400);
  const auto lays_out = jit([](Array x) { return snp::sort(x * 2) + snp::sort(x * 3); })
                            .lower(ones({1000}))
                            .compile()
                            .memory_analysis();
  EXPECT_GE(lays_out.temp_size_in_bytes, 4000);
}

TEST(Stages, MachineCodeAsText) {
  const auto compiled = jit([](Array x) { return sqrt(x) + x; }).lower(ones({1000})).compile();
  const std::string text = compiled.as_native();
  EXPECT_THAT(text, HasSubstr("sqrtps"));
  EXPECT_THAT(text, HasSubstr("driver"));
  EXPECT_THAT(jit([](Array x) { return x + x; }).lower(ones({1000})).compile().as_native(),
              Not(HasSubstr("sqrtps")));
}

/// What `f` says on stderr.
template <class F>
std::string said(F&& f) {
  ::testing::internal::CaptureStderr();
  f();
  return ::testing::internal::GetCapturedStderr();
}

TEST(CacheMisses, EachSaysWhatDiffers) {
  shows_names("jit");
  explain_cache_misses saying;
  const auto sums = [](std::vector<Array> p, Array x) { return sum(p[0]) + sum(x); };
  const int line = __LINE__ + 1;
  const auto f = jit(sums, {.name = "step"});
  const std::string who = "jit step [stages_test.cc:" + std::to_string(line) + "] ";
  EXPECT_EQ(said([&] { (void)f(std::vector{ones({2})}, ones({3})); }),
            who + "compiles for the first time: argument 0[0] is f32[2], argument 1 is f32[3]\n");
  EXPECT_EQ(said([&] { (void)f(std::vector{ones({2})}, ones({3})); }), "") << "found";
  EXPECT_EQ(said([&] { (void)f(std::vector{ones({2})}, ones({4})); }),
            who + "compiles again: argument 1 is f32[4], was f32[3]\n");
  EXPECT_EQ(said([&] { (void)f(std::vector{ones({2})}, 4.0f); }),
            who + "compiles again: argument 1 is weak f32[], was f32[3]\n");
  EXPECT_EQ(said([&] { (void)f(std::vector{ones({5})}, ones({4})); }),
            who + "compiles again: argument 0[0] is f32[5], was f32[2]\n")
      << "beside the nearest";
  EXPECT_EQ(said([&] { (void)f(std::vector{ones({2}), ones({2})}, ones({3})); }),
            who + "compiles again: the arguments are ([*, *], *), were ([*], *)\n");
  explain_cache_misses silent(false);
  EXPECT_EQ(said([&] { (void)f(std::vector{ones({2})}, ones({9})); }), "");
}

TEST(CacheMisses, StaticDataAndWidth) {
  explain_cache_misses saying;
  const auto f = jit([](std::string how, Array x) { return how == "twice" ? x * 2 : x; });
  said([&] { (void)f(std::string("twice"), ones({3})); });
  EXPECT_THAT(said([&] { (void)f(std::string("once"), ones({3})); }),
              HasSubstr("compiles again: the arguments are (\"once\", *), were (\"twice\", *)"));
  EnableX64 wide;
  EXPECT_THAT(said([&] { (void)f(std::string("once"), ones({3}, float32)); }),
              HasSubstr("64-bit types are on, were off"));
}

}  // namespace
}  // namespace strata
