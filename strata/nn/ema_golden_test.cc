// EMA beside Flax's: the averages behind each update, and the model that has them.
#include "strata/api/testing.h"
#include "strata/nn/ema.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/nnx_golden.h"
#include "strata/nn/norm/batch_norm.h"

namespace strata::nn {
namespace {

struct Two {
  Linear first;
  BatchNorm norm;
  Linear second;
  STRATA_FIELDS(first, norm, second)

  explicit Two(Rngs& rngs) : first(3, 4, rngs), norm(4, rngs), second(4, 2, rngs) {}
};

template <class M>
void check(M model, const json& c) {
  tree::assign(model, golden_tree(c["init"]));
  EMA ema(model, c["decay"].get<double>(), c["only"].is_string() ? everything() : of<Param>());
  expect_leaves(tree::of(ema), c["start"], {.ulp = 2}, "start");
  std::int64_t step = 0;
  for (const json& want : c["steps"]) {
    const tree::Tree now = tree::of(model).sorted();
    std::vector<Array> values;
    for (std::size_t i = 0; i < now.size(); ++i)
      values.push_back(
          golden_array({{"numbers", 2000 + 20 * step + static_cast<std::int64_t>(i)},
                        {"shape", now.value(i).shape().sizes()},
                        {"dtype", now.value(i).dtype() == DType::bf16 ? "bfloat16" : "float32"}}));
    update(model, now.with_values(std::move(values)));
    ema.update(model);
    expect_leaves(tree::of(ema), want, {.ulp = 2}, fmt::format("step {}", step++));
  }
  expect_leaves(tree::of(ema.apply_to(model)), c["apply_to"], {.ulp = 2}, "apply_to");
  expect_leaves(tree::of(model), c["model_after"], {.ulp = 2}, "model");
}

TEST(NnxEma, IsFlaxs) {
  testing::shows_names("nnx.EMA nnx.EMA.update nnx.EMA.apply_to");
  const NnxGolden golden("training");
  int cases = 0;
  for (const json& c : golden.cases()) {
    if (!c["name"].get<std::string>().starts_with("ema")) continue;
    SCOPED_TRACE(c["name"].get<std::string>());
    ++cases;
    Rngs rngs(0);
    if (c["model"].get<std::string>().starts_with("Two("))
      check(Two(rngs), c);
    else
      check(Linear(2, 3, rngs, {.param_dtype = DType::bf16}), c);
  }
  EXPECT_EQ(cases, 3);
}

}  // namespace
}  // namespace strata::nn
