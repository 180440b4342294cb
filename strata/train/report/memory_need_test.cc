#include "strata/train/report/memory_need.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "strata/compile/cpu/cpu_client.h"

namespace strata::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// STRATA_MEMORY_LIMIT for as long as this lives.
class Limit {
 public:
  explicit Limit(const char* value) { ::setenv("STRATA_MEMORY_LIMIT", value, 1); }
  ~Limit() { ::unsetenv("STRATA_MEMORY_LIMIT"); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
};

Config config(std::vector<std::string> keys = {}) {
  compile::register_cpu();
  keys.insert(keys.begin(),
              {"base_emb_dim=32", "base_num_decoder_layers=2", "base_mlp_dim=64",
               "base_num_query_heads=4", "base_num_kv_heads=2", "head_dim=8", "vocab_size=256",
               "max_target_length=32", "per_device_batch_size=4", "dtype=float32"});
  return read_config({}, keys, Data::optional);
}

std::string refusal(const Config& c) {
  Progress silent(-1);
  return check_memory(c, {}, step_program(c), silent).message();
}

TEST(MemoryNeed, ArgumentsAreExact) {
  const Config c = config();
  const StepProgram p = step_program(c);
  const MemoryNeed need = arguments_need(p, 1);
  std::int64_t weights = 0;
  for (const StepValue& a : p.arguments)
    if (a.name.starts_with("params.")) weights += a.type.shape().count();
  EXPECT_EQ(need.weights, weights * 4);
  EXPECT_GE(need.optimizer, 2 * need.weights);  // two moments and a count
  EXPECT_LT(need.optimizer, 2 * need.weights + 64);
  EXPECT_EQ(need.batch, 2 * 4 * 32 * 4);  // tokens and targets
  EXPECT_EQ(arguments_need(p, 3).total(), 3 * need.total());
  const MemoryNeed narrow = arguments_need(step_program(config({"weight_dtype=bfloat16"})), 1);
  EXPECT_EQ(narrow.weights * 2, need.weights);
}

TEST(MemoryNeed, WhatAStepTakesGoesWithItsTokens) {
  const std::int64_t small = between_bytes(step_program(config()));
  const std::int64_t large = between_bytes(step_program(config({"per_device_batch_size=16"})));
  EXPECT_GT(small, 0);
  EXPECT_GT(large, 2 * small);
}

TEST(MemoryNeed, ARunThatDoesNotFitIsToldItsPartsAndKeys) {
  const Limit limit("100000");
  EXPECT_THAT(refusal(config()),
              AllOf(HasSubstr("the run takes at least"), HasSubstr("100 kB are available: weights"),
                    HasSubstr("the largest arguments: params."),
                    HasSubstr("weight_dtype=bfloat16; or opt_type=sgd"),
                    HasSubstr("a smaller base_emb_dim or base_num_decoder_layers"),
                    HasSubstr("STRATA_MEMORY_LIMIT=none goes on anyway")));
}

TEST(MemoryNeed, ActivationsThatDoNotFitNameBatchesAndRemat) {
  const Config c = config({"per_device_batch_size=64", "max_target_length=64"});
  const StepProgram p = step_program(c);
  MemoryNeed need = arguments_need(p, 1);
  // Three times the state, which a 64th of the batch fits in.
  const Limit limit(std::to_string(3 * need.total()).c_str());
  EXPECT_THAT(refusal(c), AllOf(Not(HasSubstr("at least")), HasSubstr("gradients and activations"),
                                HasSubstr("remat_policy=full"), HasSubstr("per_device_batch_size="),
                                HasSubstr("gradient_accumulation_steps=")));
}

TEST(MemoryNeed, NoneGoesOnAndOtherWordsAreRefused) {
  {
    const Limit limit("none");
    EXPECT_EQ(refusal(config()), "");
    EXPECT_FALSE(memory_limit());
  }
  {
    const Limit limit("4GB");
    EXPECT_THROW((void)memory_limit(), ConfigError);
  }
  EXPECT_GT(*memory_limit(), 1 << 20);
  EXPECT_EQ(refusal(config()), "");
}

TEST(MemoryNeed, OfChipsMoreChipsAreNamed) {
  const Config c = config();
  EXPECT_THAT(memory_advice(c, 32, 90, 100, 100, Room::chip),
              HasSubstr("a larger ici_fsdp_parallelism"));
  EXPECT_EQ(
      memory_advice(config({"per_device_batch_size=1"}), 32, 1, 100, 50, Room::chip),
      "what would mend it: remat_policy=full, which keeps only what enters each layer; or "
      "max_target_length=16; or ici_context_parallelism=2, which cuts sequences, with as much "
      "less of ici_fsdp_parallelism");
  EXPECT_THAT(memory_advice(config({"per_device_batch_size=1"}), 32, 1, 100, 50, Room::machine),
              Not(HasSubstr("ici_")));
}

TEST(MemoryNeed, SizesAreReadable) {
  EXPECT_EQ(size_text(512), "512 B");
  EXPECT_EQ(size_text(1'660'000'000), "1.66 GB");
}

}  // namespace
}  // namespace strata::train
