// Laws of transformations; their numbers are in optimizer_golden_test.cc.
#include "strata/optim/typed/transform.h"

#include <gtest/gtest.h>

#include "strata/api/index.h"
#include "strata/api/jit.h"
#include "strata/api/random.h"
#include "strata/compile/cpu_client.h"
#include "strata/optim/typed/adamw.h"
#include "strata/optim/typed/sgd.h"

namespace strata::optim::typed {
namespace {

struct Params {
  Array scale, matrix;
  std::vector<Array> more;
  STRATA_FIELDS(scale, matrix, more)
};

class TransformTest : public testing::Test {
 protected:
  TransformTest() { compile::register_cpu(); }

  static Params tree_of(int seed, double size = 1) {
    const Array keys = random::split(random::key(seed), 3);
    return {size * random::normal(keys[0], {4}),
            size * random::normal(keys[1], {3, 4}),
            {size * random::normal(keys[2], {2, 2, 2})}};
  }
  static std::vector<float> numbers(const Params& p) {
    std::vector<float> out;
    tree::for_each(p, [&](const Array& leaf) {
      for (float v : leaf.to_vector<float>()) out.push_back(v);
    });
    return out;
  }
  /// All numbers of the updates of a few steps.
  template <class Optimizer>
  static std::vector<float> run(const Optimizer& optimizer, int steps = 4) {
    const Params params = tree_of(1);
    auto state = optimizer.init(params);
    std::vector<float> out;
    for (int i = 0; i < steps; ++i) {
      auto [updates, next] = optimizer.update(tree_of(10 + i), state, params);
      state = next;
      for (float v : numbers(updates)) out.push_back(v);
    }
    return out;
  }
};

TEST_F(TransformTest, ChainIsAssociative) {
  const auto a = clip_by_global_norm(0.5);
  const auto b = scale_by_adam();
  const auto c = scale_by_learning_rate(0.1);
  EXPECT_EQ(run(chain(a, chain(b, c))), run(chain(a, b, c)));
  EXPECT_EQ(run(chain(chain(a, b), c)), run(chain(a, b, c)));
}

TEST_F(TransformTest, IdentityIsNeutral) {
  EXPECT_EQ(run(chain(identity(), scale_by_adam(), identity())), run(scale_by_adam()));
  EXPECT_EQ(run(identity()), run(chain()));
  EXPECT_EQ(run(when(false, scale(7))), run(identity()));
  EXPECT_EQ(run(when(true, scale(7))), run(scale(7)));
}

TEST_F(TransformTest, ClippingNeverEnlargesAndKeepsTheDirection) {
  for (const double size : {1e-20, 1e-3, 1.0, 1e6}) {
    for (const double bound : {1e-6, 0.3, 1.0, 1e9}) {
      const Params grads = tree_of(5, size);
      const Params clipped = clip_by_global_norm(bound).update(grads, {}, grads).first;
      const float before = global_norm(grads).item<float>(),
                  after = global_norm(clipped).item<float>();
      EXPECT_LE(after, before);
      EXPECT_LE(after, bound * (1 + 1e-6));
      if (before < bound) {
        EXPECT_EQ(numbers(clipped), numbers(grads)) << "within the bound nothing changes";
      }
      const std::vector<float> g = numbers(grads), c = numbers(clipped);
      for (std::size_t i = 0; i < g.size(); ++i)
        EXPECT_NEAR(c[i], g[i] * (after / before), 1e-6 * std::abs(after));
    }
  }
}

TEST_F(TransformTest, ClippingOfZeroIsZero) {
  const Params zero = tree::map([](const Array& x) { return zeros_like(x); }, tree_of(1));
  EXPECT_EQ(numbers(clip_by_global_norm(1.0).update(zero, {}, zero).first), numbers(zero));
}

TEST_F(TransformTest, MasksChooseByAxesAndByPath) {
  const Params params = tree_of(1),
               zero = tree::map([](const Array& x) { return zeros_like(x); }, params);
  auto decayed = [&](Mask mask) {
    return add_decayed_weights(1.0, std::move(mask)).update(zero, {}, params).first;
  };
  EXPECT_EQ(numbers(decayed({})), numbers(params));
  const Params by_axes = decayed(mask_by_ndim(2)),
               by_path = decayed(mask_except_paths({"mat*", "more*"}));
  EXPECT_EQ(numbers(by_axes), numbers(Params{zero.scale, params.matrix, params.more}));
  EXPECT_EQ(numbers(by_path), numbers(Params{params.scale, zero.matrix, zero.more}));
}

TEST_F(TransformTest, NesterovLooksOneStepAhead) {
  // Of a constant gradient the trace after n steps is 1 + d + ... + d^(n-1); Nesterov's is one term
  // longer.
  const Params one = tree::map([](const Array& x) { return ones_like(x); }, tree_of(1));
  for (const bool nesterov : {false, true}) {
    const Trace t = trace(0.5, nesterov);
    auto state = t.init(one);
    double expected = nesterov ? 1 : 0, power = nesterov ? 0.5 : 1;
    for (int step = 0; step < 5; ++step, power *= 0.5) {
      auto [updates, next] = t.update(one, state, one);
      state = next;
      expected += power;
      EXPECT_EQ(updates.scale.to_vector<float>()[0], static_cast<float>(expected)) << step;
    }
  }
}

TEST_F(TransformTest, WithoutMomentumNoTraceIsKept) {
  EXPECT_EQ(tree::paths(sgd(constant_schedule(1)).init(tree_of(1))).size(), 1u);
  EXPECT_EQ(tree::paths(sgd(constant_schedule(1), {.momentum = 0.9}).init(tree_of(1))).size(), 4u);
}

TEST_F(TransformTest, FirstStepOfAdamIsTheSign) {
  // m / (1 - b1) is g and v / (1 - b2) is g^2.
  const std::vector<float> g = numbers(tree_of(10)), u = run(scale_by_adam(0.9, 0.999, 0), 1);
  for (std::size_t i = 0; i < g.size(); ++i) EXPECT_NEAR(u[i], g[i] > 0 ? 1 : -1, 1e-5);
}

TEST_F(TransformTest, UpdatesKeepTheirDtypes) {
  const Params wide = tree_of(1),
               narrow = tree::map([](const Array& x) { return astype(x, bfloat16); }, wide);
  auto check = [&](const auto& optimizer) {
    auto [updates, state] = optimizer.update(narrow, optimizer.init(narrow), narrow);
    const Params moved = apply_updates(narrow, updates);
    tree::for_each(moved, [](const Array& leaf) { EXPECT_EQ(leaf.dtype(), bfloat16); });
  };
  check(sgd(constant_schedule(0.1), {.momentum = 0.9, .nesterov = true}));
  check(adamw(constant_schedule(0.1), {.max_norm = 1.0}));
}

TEST_F(TransformTest, OneProgramServesEveryStep) {
  const auto optimizer = adamw(warmup_cosine_decay_schedule(0, 0.1, 2, 6), {.max_norm = 1.0});
  const Params start = tree_of(1);
  auto body = [&](const Params& params, const decltype(optimizer.init(start))& state,
                  const Params& grads) {
    auto [updates, next] = optimizer.update(grads, state, params);
    return std::pair(apply_updates(params, updates), next);
  };
  auto step = jit(body);
  std::pair traced(start, optimizer.init(start)), eager(start, optimizer.init(start));
  traced = tree::map([](const Array& leaf) { return asarray(leaf.literal()); }, std::move(traced));
  for (int i = 0; i < 6; ++i) {
    traced = step(traced.first, traced.second, tree_of(10 + i));
    eager = body(eager.first, eager.second, tree_of(10 + i));
    EXPECT_EQ(numbers(traced.first), numbers(eager.first)) << "compiled as eager, step " << i;
  }
  EXPECT_EQ(step.cache_size(), 1u);
}

TEST_F(TransformTest, ANumberIsASchedule) {
  const Params p = tree_of(0), g = tree_of(1);
  auto after = [&](const auto& optimizer) {
    auto state = optimizer.init(p);
    auto [updates, next] = optimizer.update(g, state, p);
    return apply_updates(p, updates).matrix.template to_vector<float>();
  };
  auto same = [&](auto make) {
    const auto want = after(make(constant_schedule(0.5)));
    EXPECT_NE(want, p.matrix.to_vector<float>());
    EXPECT_EQ(after(make(0.5)), want);
    EXPECT_EQ(after(make(0.5f)), want);
    EXPECT_EQ(after(make(Array(0.5))), want);
  };
  same([](const auto& rate) { return adam(rate); });
  same([](const auto& rate) { return adamw(rate, {.weight_decay = 0.1}); });
  same([](const auto& rate) { return sgd(rate, {.momentum = 0.9}); });
  same([](const auto& rate) { return scale_by_learning_rate(rate); });
  same([](const auto& rate) { return scale_by_schedule(rate); });
  EXPECT_EQ(after(sgd(1)), after(sgd(1.0)));
  // A rate that the program is given: one program for all rates.
  auto step = jit([&](Array rate) {
    auto optimizer = sgd(rate);
    return optimizer.update(g, optimizer.init(p), p).first.matrix;
  });
  EXPECT_EQ(step(0.5f).to_vector<float>(), (-0.5f * g.matrix).to_vector<float>());
  EXPECT_EQ(step(0.25f).to_vector<float>(), (-0.25f * g.matrix).to_vector<float>());
  EXPECT_THROW(after(sgd(zeros({2}))), Error);
  EXPECT_FALSE(Schedule());
  EXPECT_THROW(Schedule()(0), Error);
}

}  // namespace
}  // namespace strata::optim::typed
