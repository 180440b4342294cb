// Training in steady state: a step allocates nothing; its state goes round in the memory that it
// has.
#include <gtest/gtest.h>

#include "strata/api/index.h"
#include "strata/api/random.h"
#include "strata/base/testing/allocations.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/llama/family.h"
#include "strata/runtime/allocator.h"
#include "strata/train/step/rules.h"
#include "strata/train/step/step.h"

namespace strata::train {
namespace {

/// Steps of a small model on one batch.
class Steps {
 public:
  explicit Steps(const StepOptions& options)
      : step_(make_step(model(), optimizer(), options)),
        state_(init(random::key(0), model(), optimizer())) {
    const Array tokens = random::randint(random::key(1), {8, 65}, 0, 512);
    batch_ = {tokens[{slice(), slice(0, 64)}], tokens[{slice(), slice(1, 65)}]};
  }
  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      auto [outcome, next] = step_(std::move(state_), batch_);
      state_ = std::move(next);
      loss_ = outcome.loss.item<float>();
    }
  }
  float loss() const { return loss_; }

 private:
  static model::ModelPtr model() {
    return llama::model({.vocab_size = 512,
                         .base_emb_dim = 64,
                         .base_num_decoder_layers = 3,
                         .base_num_query_heads = 4,
                         .base_num_kv_heads = 2,
                         .head_dim = 16,
                         .base_mlp_dim = 128});
  }
  static Optimizer optimizer() { return {.rule = adamw(1e-3)}; }

  Step step_;
  State state_;
  Batch batch_;
  float loss_ = 0;
};

void expect_nothing_new(const StepOptions& options) {
  compile::register_cpu();
  Steps steps(options);
  steps.run(10);
  const float before = steps.loss();
  const runtime::MemoryCounts memory = runtime::memory_counts();
  const std::size_t count = allocations();
  steps.run(10);
  EXPECT_EQ(allocations() - count, 0u);
  const runtime::MemoryCounts now = runtime::memory_counts();
  EXPECT_EQ(now.in_use, memory.in_use);
  EXPECT_EQ(now.cached, memory.cached);
  EXPECT_EQ(now.peak, memory.peak);
  EXPECT_LT(steps.loss(), before);
}

TEST(StepMemory, AStepAllocatesNothing) { expect_nothing_new({}); }
TEST(StepMemory, NorDoesOneOfMicroBatches) { expect_nothing_new({.micro_batches = 4}); }

}  // namespace
}  // namespace strata::train
