// Models whose pages hold states: sequences go on where whole pages end, and nothing is guessed.
#include <gtest/gtest.h>

#include <filesystem>

#include "strata/base/error.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/engine/engine.h"
#include "strata/model/pretrained.h"

namespace strata::engine {
namespace {

const std::string kModel = (std::filesystem::path(__FILE__).parent_path().parent_path() /
                            "model/testdata/published/qwen3_next")
                               .string();

TEST(StatesTest, EqualBeginningsGoOnAtWholePages) {
  compile::register_cpu();
  const model::Pretrained p = model::load(kModel).value();
  std::vector<Request> all;
  for (std::int32_t i = 0; i < 3; ++i) {
    Request r{.tokens = {}, .sampling = {.temperature = 0}, .max_tokens = 6};
    for (std::int32_t t = 0; t < 14; ++t) r.tokens.push_back(5 + t * 7 % 31);
    r.tokens.push_back(40 + i);  // behind two whole tokens of the last page
    all.push_back(std::move(r));
  }
  const auto outputs = [&](bool share) {
    Engine engine(p.model, p.params, {.pages = 40, .page_size = 4, .share_beginnings = share});
    std::vector<Output> out;
    for (const Request& r : all) {
      const Id id = engine.submit(r);
      while (engine.step()) engine.check();
      out.push_back(engine.take(id));
    }
    return out;
  };
  const std::vector<Output> shared = outputs(true), apart = outputs(false);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(shared[i].tokens.size(), 6u);
    EXPECT_EQ(shared[i].tokens, apart[i].tokens) << i;
    EXPECT_EQ(shared[i].logprobs, apart[i].logprobs) << i;
    EXPECT_EQ(shared[i].shared_tokens, i == 0 ? 0 : 12) << i;
  }
}

TEST(StatesTest, NothingIsGuessedAhead) {
  compile::register_cpu();
  const model::Pretrained p = model::load(kModel).value();
  EXPECT_THROW(Engine(p.model, p.params, {.speculation = {.method = Speculation::Method::ngram}}),
               Error);
}

}  // namespace
}  // namespace strata::engine
