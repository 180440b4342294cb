// Training adapters beside a base that stays as it is, dense or in packed blocks: the first loss is
// the base's, it falls, the base keeps its bits and its size, and a run goes on with the same bits.
#include "strata/model/lora/lora.h"

#include <gtest/gtest.h>

#include <cstring>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/api/packed.h"
#include "strata/api/random.h"
#include "strata/api/transform/jit.h"
#include "strata/checkpoint/arrays.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/decoder/model.h"
#include "strata/model/lora/peft.h"
#include "strata/runtime/allocator.h"
#include "strata/train/step/rules.h"
#include "strata/train/step/step.h"

namespace strata::train {
namespace {

using model::lora::Adapted;
namespace lora = model::lora;
namespace decoder = model::decoder;

decoder::Options llama(std::int64_t width = 32, std::int64_t vocabulary = 64) {
  decoder::Options o{.family = "llama",
                     .vocab_size = vocabulary,
                     .width = width,
                     .layers = 2,
                     .query_heads = 4,
                     .kv_heads = 2,
                     .head_dim = width / 4,
                     .mlp_width = 2 * width,
                     .tied = true};
  o.attention_scale = 0.35;
  o.ropes = {{.width = width / 4}};
  o.initial_deviation = 0.2;
  return o;
}

/// A base whose matrices and embedding are packed where a format is named.
Adapted base_of(decoder::Options o, const char* format) {
  const tree::Tree dense = decoder::model(o)->init(random::key(1));
  if (!format) return {decoder::model(o), dense};
  const BlockFormat blocks = BlockFormat::named(format);
  const tree::Tree packed = dense.map([&](const tree::Entry& e, const Array& w) {
    const bool is_table = e.name == "embedder/embedding";
    if (!is_table && !e.name.ends_with("/kernel")) return w;
    o.packed.emplace(e.name, blocks);
    return pack(is_table ? w : swapaxes(w, -1, -2), blocks).blocks;
  });
  return {decoder::model(o), packed};
}
Adapted with_adapters(const Adapted& base) {
  const model::ModelPtr m =
      lora::with_adapters(base.model, lora::LoraOptions{.rank = 4, .alpha = 8});
  return {m, lora::add_adapters(m, base.params, random::key(3))};
}

Optimizer optimizer() { return {.rule = adamw(1e-2), .max_norm = 1, .frozen = !lora::adapters()}; }
State first_state(const Adapted& adapted) {
  return {adapted.params, optimizer().rule.init(adapted.params.filter(lora::adapters()))};
}
Batch batch(std::int64_t vocabulary = 64, std::int64_t length = 24) {
  const Array tokens = random::randint(random::key(7), {4, length + 1}, 0, vocabulary);
  return {tokens[{slice(), slice(0, length)}], tokens[{slice(), slice(1, length + 1)}]};
}

/// nullptr: a dense base.
class LoraTraining : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

TEST_P(LoraTraining, TheFirstLossIsTheBasesToTheBit) {
  const Adapted base = base_of(llama(), GetParam()), adapted = with_adapters(base);
  const auto loss = [&](const Adapted& m) {
    return make_eval(m.model)(m.params, batch()).first.item<float>();
  };
  EXPECT_EQ(loss(base), loss(adapted));
  const auto [outcome, next] = make_step(adapted.model, optimizer())(first_state(adapted), batch());
  EXPECT_NEAR(outcome.loss.item<float>(), loss(base) / (4 * 24), 1e-5);
}

TEST_P(LoraTraining, AHundredStepsLowerTheLossAndLeaveTheBase) {
  const Adapted base = base_of(llama(), GetParam()), adapted = with_adapters(base);
  const Step step = make_step(adapted.model, optimizer());
  State state = first_state(adapted);
  float first = 0, last = 0;
  for (int i = 0; i < 100; ++i) {
    auto [outcome, next] = step(std::move(state), batch());
    state = std::move(next);
    last = outcome.loss.item<float>();
    if (i == 0) first = last;
    if (i > 0) continue;
    // Nothing is computed of what is frozen.
    const auto norms = outcome.parameter_norms.to_vector<float>();
    for (std::size_t k = 0; k < norms.size(); ++k)
      EXPECT_EQ(norms[k] == 0, state.params.entry(k).kind->name() != "LoRAParam")
          << state.params.names()[k];
  }
  EXPECT_LT(last, 0.5f * first) << first;
  EXPECT_TRUE(tree::equal(lora::base_of(adapted.model, state.params).params, base.params));
  for (const std::string& name : state.optimizer.names())
    EXPECT_TRUE(name.find("kernel") == std::string::npos) << name;
  // Merged, it has learned the same.
  const Adapted whole = lora::merged(adapted.model, state.params);
  const auto loss = [&](const Adapted& m) {
    return make_eval(m.model)(m.params, batch()).first.item<float>() / (4 * 24);
  };
  EXPECT_NEAR(loss(whole), loss({adapted.model, state.params}), 1e-3);
}

/// What a checkpoint needs to hold: the adapters and the optimizer's state.
TEST_P(LoraTraining, GoesOnWithTheSameBitsFromWhatWasTrained) {
  const Adapted base = base_of(llama(), GetParam()), adapted = with_adapters(base);
  const Step step = make_step(adapted.model, optimizer());
  const auto run = [&](State state, int steps) {
    for (int i = 0; i < steps; ++i) state = step(std::move(state), batch()).second;
    return state;
  };
  const State whole = run(first_state(adapted), 6);
  const State half = run(first_state(adapted), 3);
  const tree::Tree kept = half.params.filter(lora::adapters());
  const Adapted again = with_adapters(base_of(llama(), GetParam()));
  const State resumed = run({again.params.map([&](const tree::Entry& e, const Array& w) {
                               return kept.contains(e.name) ? kept[e.name] : w;
                             }),
                             half.optimizer},
                            3);
  EXPECT_TRUE(tree::equal(resumed.params, whole.params));
  EXPECT_TRUE(tree::equal(resumed.optimizer, whole.optimizer));
}

TEST_P(LoraTraining, MicroBatchesGiveTheSame) {
  const Adapted adapted = with_adapters(base_of(llama(), GetParam()));
  const auto loss = [&](std::int64_t parts) {
    const Step step = make_step(adapted.model, optimizer(), {.micro_batches = parts});
    State state = first_state(adapted);
    float out = 0;
    for (int i = 0; i < 3; ++i) {
      auto [outcome, next] = step(std::move(state), batch());
      state = std::move(next), out = outcome.loss.item<float>();
    }
    return out;
  };
  EXPECT_NEAR(loss(1), loss(4), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Bases, LoraTraining, testing::Values(nullptr, "Q4_0", "Q8_0"),
                         [](const auto& test) {
                           return std::string(test.param ? test.param : "dense");
                         });

/// A step needs the packed base and what one token after the other needs, never the numbers of a
/// weight: its embedding alone would be more, dense, than all that the step may take.
TEST(LoraMemory, APackedBaseStaysPacked) {
  compile::register_cpu();
  constexpr std::int64_t kWidth = 256, kVocabulary = 16384;
  const std::size_t dense = sizeof(float) * kWidth * kVocabulary;  // the embedding's
  const Adapted adapted = with_adapters(base_of(llama(kWidth, kVocabulary), "Q4_0"));
  const Step step = make_step(adapted.model, optimizer());
  const Batch few = batch(kVocabulary, 8);
  State state = first_state(adapted);
  runtime::release_cached();
  for (int i = 0; i < 3; ++i) state = step(std::move(state), few).second;
  const runtime::MemoryCounts now = runtime::memory_counts();
  EXPECT_LT(now.in_use + now.cached, dense);
}

}  // namespace
}  // namespace strata::train
