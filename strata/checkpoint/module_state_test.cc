// State of modules in checkpoints: a run that is killed and goes on ends at the bits of one that
// was not.
#include "strata/checkpoint/module_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "strata/api/random.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/attention/multi_head_attention.h"
#include "strata/nn/dropout.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/norm/batch_norm.h"
#include "strata/nn/transform/grad.h"
#include "strata/nn/transform/jit.h"
#include "strata/optim/optimizer.h"
#include "strata/optim/rules/adam.h"

namespace strata::checkpoint {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A model with state of every kind: weights, averages, streams, a cache.
struct Net {
  nn::Linear in;
  nn::BatchNorm norm;
  nn::Dropout drop;
  nn::MultiHeadAttention attention;
  nn::Linear out;
  STRATA_FIELDS(in, norm, drop, attention, out)

  explicit Net(nn::Rngs& rngs)
      : in(4, 6, rngs),
        norm(6, rngs),
        drop(0.5, rngs, {.deterministic = false}),
        attention(2, 6, rngs, {.decode = true}),
        out(6, 3, rngs) {
    attention.init_cache({kBatch, 16, 6});
  }
  Array operator()(const Array& x) {
    const Array h = drop(norm(in(x)));
    return out(numpy::squeeze(attention(numpy::expand_dims(h, 1)), 1));
  }
  static constexpr std::int64_t kBatch = 4;
};
using Keeper = optim::ModelAndOptimizer<Net>;

Keeper fresh(std::int64_t seed = 0) {
  nn::Rngs rngs(seed);
  return Keeper(Net(rngs), optim::adamw(0.01));
}
constexpr std::int64_t kSteps = 8;

/// Steps up to kSteps from the newest checkpoint of a folder, or from the beginning; a checkpoint
/// behind each.
void run(const std::string& root) {
  Keeper keeper = fresh();
  std::int64_t step = 0;
  Result<Latest> latest = load_latest(root);
  if (latest && latest->checkpoint) {
    // Restored into another model than the one that was saved.
    keeper = restored(fresh(7), latest->checkpoint->parts.at("state")).value();
    step = latest->checkpoint->step;
  }
  const auto train = nn::jit([](Keeper& k, const Array& x) {
    const auto loss = [](Net& m, const Array& v) {
      return numpy::mean(numpy::square(m(v) - 1.0f));
    };
    const auto [value, grads] = nn::value_and_grad(loss)(k.model, x);
    (void)k.update(grads);
    return value;
  });
  while (step < kSteps) {
    const Array x = random::normal(random::key(step), {Net::kBatch, 4}, DType::f32);
    (void)train(keeper, x);
    ++step;
    const Status saved = save(
        root, {.step = step, .parts = {{"state", state_of(keeper)}}, .notes = {}}, {.newest = 3});
    if (!saved) std::_Exit(3);
  }
}

class Interrupted : public ::testing::Test {
 protected:
  Interrupted() : folder_(std::filesystem::path(::testing::TempDir()) / "module_state_test") {
    compile::register_cpu();
    std::filesystem::remove_all(folder_);
  }
  ~Interrupted() override { std::filesystem::remove_all(folder_); }
  std::string root(const std::string& name) const { return (folder_ / name).string(); }

  /// Another process that runs in this folder.
  static pid_t start(const std::string& root) {
    const pid_t child = ::fork();
    if (child == 0) {
      run(root);
      std::_Exit(0);
    }
    return child;
  }
  /// Waits for its end: the signal that killed it, or minus its status.
  static int end_of(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
  }
  /// Kills a process behind its k-th checkpoint and a moment more.
  static int kill_behind(pid_t child, const std::string& root, std::int64_t k) {
    for (int tries = 0; tries < 100000; ++tries) {
      const auto there = steps(root);
      if (there && !there->empty() && there->back() >= k) break;
      if (::waitpid(child, nullptr, WNOHANG) != 0) return 0;
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200 * k));
    ::kill(child, SIGKILL);
    return end_of(child);
  }
  static Tensors state_at_end(const std::string& root) {
    const Latest latest = load_latest(root).value();
    EXPECT_EQ(latest.checkpoint.value().step, kSteps);
    return latest.checkpoint->parts.at("state");
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(Interrupted, RunsEndAtTheBitsOfAWholeOne) {
  // Children before this process has threads of its own.
  ASSERT_EQ(end_of(start(root("whole"))), 0);
  int killed = 0;
  for (const std::int64_t k : {1, 2, 4}) {
    const std::string here = root(fmt::format("killed{}", k));
    killed += kill_behind(start(here), here, k) == SIGKILL;
    // And once more on the way.
    killed += kill_behind(start(here), here, k + 2) == SIGKILL;
    ASSERT_EQ(end_of(start(here)), 0);
    const Tensors want = state_at_end(root("whole")), got = state_at_end(here);
    ASSERT_EQ(got.size(), want.size());
    for (const auto& [name, tensor] : want)
      EXPECT_TRUE(got.at(name).same_bits(tensor)) << name << ", killed behind step " << k;
  }
  EXPECT_GE(killed, 3) << "processes ended before they could be killed";
}

TEST_F(Interrupted, EveryKindOfStateGoes) {
  Keeper keeper = fresh();
  const Tensors all = state_of(keeper);
  for (const char* name :
       {"model/in/kernel", "model/norm/mean", "model/drop/rngs/key", "model/drop/rngs/count",
        "model/attention/cached_key", "model/attention/cache_index", "opt_state/0/mu/in/kernel",
        "opt_state/0/count", "step"})
    EXPECT_TRUE(all.contains(name)) << name;
  EXPECT_EQ(all.size(), tree::of(keeper).size());
  const Keeper again = restored(fresh(5), all).value();
  EXPECT_TRUE(tree::equal(tree::of(again), tree::of(keeper)));
  EXPECT_FALSE(tree::equal(tree::of(fresh(5)), tree::of(keeper)));
  EXPECT_EQ(state_of(Array(2.0f)).begin()->first, "value");
}

TEST_F(Interrupted, MistakesNameThePath) {
  nn::Rngs rngs(0);
  const nn::Linear linear(2, 3, rngs);
  const Tensors all = state_of(linear);
  const auto message = [&](const Tensors& tensors, const nn::Linear& like) {
    const Result<nn::Linear> got = restored(like, tensors);
    EXPECT_EQ(got.status().code(), Code::invalid);
    return got.status().message();
  };
  Tensors less = all;
  less.erase("bias");
  EXPECT_THAT(message(less, linear), HasSubstr("no bias"));
  Tensors more = all;
  more.emplace("kernels", all.at("kernel"));
  EXPECT_THAT(message(more, linear),
              AllOf(HasSubstr("the tree has no kernels"), HasSubstr("did you mean 'kernel'")));
  EXPECT_THAT(message(all, nn::Linear(2, 4, rngs)),
              AllOf(HasSubstr("kernel is f32[2,3]"), HasSubstr("f32[2,4] in the tree")));
  EXPECT_THROW((void)state_of(nn::Linear()), Error);
}

}  // namespace
}  // namespace strata::checkpoint
