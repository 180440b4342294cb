// Attention as JAX writes it (testdata/attention): found in every spelling, compiled without the
// scores of all heads in memory, with the bits of the reference evaluator, forward and with its
// gradients; near misses are told apart.
#include "strata/pass/dot/attention.h"

#include <filesystem>
#include <map>

#include "strata/base/file.h"
#include "strata/compile/compile_testing.h"
#include "strata/compile/fuse/fusion.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/text/parser.h"

namespace strata::compile {
namespace {

namespace fs = std::filesystem;
using ir::Block;
using ir::Value;

/// Elements of the scores of all heads; fewer bytes than that are no scores, whatever their dtype.
constexpr std::int64_t kScores = 2 * 8 * 128 * 128;

std::vector<fs::path> programs(const std::string& prefix) {
  std::vector<fs::path> out;
  for (const auto& file :
       fs::directory_iterator(fs::path(__FILE__).parent_path() / "testdata" / "attention"))
    if (file.path().filename().string().rfind(prefix, 0) == 0) out.push_back(file.path());
  std::sort(out.begin(), out.end());
  return out;
}

std::unique_ptr<Block> parsed(const fs::path& path) {
  auto module = ir::parse(*read_file(path.string()), path.filename().string());
  ir::inline_calls(**module);
  return ir::clone((*module)->entry()->body);
}
/// Without its gradients.
std::unique_ptr<Block> forward(const fs::path& path) {
  std::unique_ptr<Block> out = parsed(path);
  out->results.resize(1);
  ir::remove_dead(*out);
  return out;
}

/// The largest buffer that is neither given nor asked for, and no constant.
std::int64_t largest(const Plan& plan) {
  std::int64_t most = 0;
  for (const PlanBuffer& b : plan.buffers)
    if (b.kind == PlanBuffer::Kind::temporary) most = std::max(most, b.bytes);
  return most;
}

/// What the recogniser says of each product that is almost attention or is.
std::vector<std::string> remarks_of(const Block& block) {
  std::vector<std::string> remarks, out;
  (void)prepare(block, &remarks);
  for (std::string& line : remarks)
    if (line.find("attention: ") != std::string::npos) out.push_back(std::move(line));
  return out;
}

void expect_attention(const Block& block) {
  std::vector<std::string> remarks = remarks_of(block);
  ASSERT_EQ(remarks.size(), 1u) << ::testing::PrintToString(remarks);
  EXPECT_EQ(remarks[0].rfind("attention: ", 0), 0u) << remarks[0];
}

/// On processors without matrix tiles, whose kernels work beyond the places that chains see.
void expect_no_scores_in_memory(const Block& block) {
  for (const char* processor : {"x86-64-v3", "x86-64-v4"}) {
    Plan plan = make_plan(*prepare(block), {}, CpuTarget::named(processor));
    EXPECT_LT(largest(plan), kScores) << processor << "\n" << print(plan);
  }
}

TEST(Attention, EverySpellingIsFound) {
  std::vector<fs::path> all = programs("match_");
  ASSERT_GE(all.size(), 30u);
  for (const fs::path& path : all) {
    SCOPED_TRACE(path.filename().string());
    expect_attention(*forward(path));
    expect_attention(*parsed(path));
  }
}

TEST(Attention, ScoresOfAllHeadsAreNeverInMemory) {
  const std::string moved_groups = "match_dot_product_attention_grouped",
                    kept_exponentials = "match_normalised_last";
  for (const fs::path& path : programs("match_")) {
    SCOPED_TRACE(path.filename().string());
    if (path.stem() == moved_groups)
      continue;  // JAX moves the groups in front of the batch between the product and the softmax
    expect_no_scores_in_memory(*forward(path));
    if (path.stem() == kept_exponentials)
      continue;  // they wait for a gradient divided by the sums of rows, which are in another order
    expect_no_scores_in_memory(*parsed(path));
  }
}

TEST(Attention, HasTheReferencesBits) {
  for (const fs::path& path : programs("match_")) {
    SCOPED_TRACE(path.filename().string());
    auto block = parsed(path);
    std::vector<Literal> arguments = testing::arguments_of(*block),
                         want = op::evaluate(*block, arguments);
    set_num_threads(3);
    testing::expect_same_bits(testing::run_compiled(*block, arguments), want,
                              "machine code, 3 threads");
    set_num_threads(0);
  }
}

TEST(Attention, NearMissesAreToldApart) {
  const std::map<std::string, std::string> why{
      {"greatest_of_all", "stablehlo.reduce takes dimensions 0, 1, 2, 3 together"},
      {"heads_mixed", "a product with the probabilities sums over dimension 1"},
      {"keys_picked", "stablehlo.gather takes the probabilities apart"},
      {"masked_weights_returned", "the probabilities are also a result"},
      {"read_by_a_loop", "stablehlo.while reads the probabilities whole"},
      {"scores_returned", "the scores are also a result"},
      {"softmax_over_all", "stablehlo.reduce takes dimensions 2, 3 together"},
      {"softmax_over_heads", "stablehlo.reduce takes dimension 1 together"},
      {"softmax_over_queries",
       "the softmax goes over dimension 2, the second product sums over dimension 3"},
      {"sorted_scores", "strata.sort reads the scores whole"},
      {"summed_up", "strata.cumulative reads the probabilities whole"},
      {"values_of_queries",
       "the softmax goes over dimension 3, the second product sums over dimension 2"},
      {"weights_returned", "the probabilities are also a result"},
      {"without_sum", "nothing sums the exponentials of a row"}};
  std::vector<fs::path> all = programs("miss_");
  ASSERT_EQ(all.size(), why.size());
  for (const fs::path& path : all) {
    SCOPED_TRACE(path.filename().string());
    std::vector<std::string> remarks = remarks_of(*parsed(path));
    ASSERT_EQ(remarks.size(), 1u) << ::testing::PrintToString(remarks);
    EXPECT_EQ(remarks[0], "not attention: stablehlo.dot_general -> tensor<2x8x128x128xf32>: " +
                              why.at(path.stem().string().substr(5)));
  }
}

/// A loss over a vocabulary and a layer that is no softmax are not taken for attention.
TEST(Attention, ProductsWithoutASoftmaxAreNotSpokenOf) {
  Block f;
  Value* x = f.add_argument(Type(DType::f32, {8, 16}));
  Value* w = f.add_argument(Type(DType::f32, {16, 32}));
  ir::Builder b(f);
  Value* y = op::dot_general(b, x, w, {{}, {}, {1}, {0}});
  Value* gate = op::div(b, y, op::add(b, op::full_like(b, y, 1), op::exp(b, op::neg(b, y))));
  f.results = {op::dot_general(b, gate, w, {{}, {}, {1}, {1}})};
  EXPECT_TRUE(pass::describe_attention(f).empty());
}

}  // namespace
}  // namespace strata::compile
