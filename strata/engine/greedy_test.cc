// Greedy tokens of tiny models of several families are those of transformers
// (tools/goldens/greedy_tokens.py), alone and among others that arrive meanwhile.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "strata/compile/cpu/cpu_client.h"
#include "strata/engine/testing/small_model.h"
#include "strata/model/pretrained.h"

namespace strata::engine {
namespace {

using Tokens = std::vector<std::int32_t>;

struct Golden {
  Tokens prompt, tokens;
};

class GreedyTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GreedyTest, TokensAreThoseOfTransformersAloneAndAmongOthers) {
  compile::register_cpu();
  const auto here = std::filesystem::path(__FILE__).parent_path();
  std::ifstream in(here / "testdata/greedy_tokens.json");
  std::vector<Golden> all;
  const auto goldens = nlohmann::json::parse(in);
  for (const auto& one : goldens["families"][GetParam()])
    all.push_back({one["prompt"].get<Tokens>(), one["tokens"].get<Tokens>()});
  ASSERT_EQ(all.size(), 32u);
  auto loaded = model::load((here / "../model/testdata/published" / GetParam()).string());
  ASSERT_TRUE(loaded) << loaded.status().message();
  Engine engine(loaded->model, loaded->params,
                {.pages = 64, .page_size = 4, .max_batch = 8, .chunk = 16, .max_length = 60});
  const auto request = [](const Golden& g) {
    return Request{.tokens = g.prompt,
                   .sampling = {.temperature = 0},
                   .max_tokens = static_cast<std::int64_t>(g.tokens.size())};
  };
  for (std::size_t i = 0; i < all.size(); i += 8)
    EXPECT_EQ(testing::outputs(engine, {request(all[i])})[0].tokens, all[i].tokens) << i;
  // All of them, each after a random number of steps.
  std::mt19937 random(5);
  std::map<Id, std::size_t> of;
  std::size_t next = 0;
  for (bool busy = true; busy || next < all.size();) {
    while (next < all.size() && random() % 3 != 0) {
      of[engine.submit(request(all[next]))] = next;
      ++next;
    }
    busy = engine.step();
  }
  EXPECT_GT(engine.statistics().prefix_queries, 0);
  for (const auto& [id, i] : of) EXPECT_EQ(engine.take(id).tokens, all[i].tokens) << i;
}

INSTANTIATE_TEST_SUITE_P(Families, GreedyTest,
                         ::testing::Values("gemma2", "llama_llama3", "olmo2", "phi3_partial",
                                           "qwen3"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace strata::engine
