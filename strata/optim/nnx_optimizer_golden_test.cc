// Optimizer, ModelAndOptimizer and TrainState beside Flax NNX's: state and parameters behind each
// step, which begins at upstream's.
#include <filesystem>
#include <fstream>

#include "strata/api/testing.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/jit.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/norm/batch_norm.h"
#include "strata/optim/optax_golden.h"
#include "strata/optim/optimizer.h"
#include "strata/optim/rules/adam.h"
#include "strata/optim/rules/sgd.h"
#include "strata/optim/train_state.h"
#include "strata/optim/transform/clip.h"

namespace strata::optim {
namespace {

/// Of a leaf's largest element.
constexpr double kNear = 4e-7;

json cases() {
  const auto path =
      std::filesystem::path(__FILE__).parent_path().parent_path() / "nn/testdata/nnx/training.json";
  std::ifstream file(path);
  return json::parse(file)["cases"];
}

struct Two {
  nn::Linear first;
  nn::BatchNorm norm;
  nn::Linear second;
  STRATA_FIELDS(first, norm, second)

  explicit Two(nn::Rngs& rngs) : first(3, 4, rngs), norm(4, rngs), second(4, 2, rngs) {}
};

GradientTransformation rule_of(const std::string& text) {
  if (text == "adamw(0.02, weight_decay=0.1)") return adamw(0.02, {.weight_decay = 0.1});
  if (text == "adamw(0.02)") return adamw(0.02);
  if (text == "sgd(0.05, momentum=0.9)") return sgd(0.05, {.momentum = 0.9});
  if (text == "chain(clip_by_global_norm(1.0), adamw(0.02))")
    return chain(clip_by_global_norm(1.0), adamw(0.02));
  throw std::runtime_error("no rule " + text);
}
tree::Filter filter_of(const json& wrt) {
  if (!wrt.contains("all")) return nn::of<nn::Param>();
  return nn::of<nn::Param>() && tree::path_contains("kernel");
}

/// Gradient i of a step, in order of paths.
Tree gradients(std::int64_t step, const Tree& params) {
  const Tree sorted = params.sorted();
  std::vector<Array> values;
  for (std::size_t i = 0; i < sorted.size(); ++i)
    values.push_back(
        golden_array({{"numbers", 1000 + 20 * step + static_cast<std::int64_t>(i)},
                      {"shape", sorted.value(i).shape().sizes()},
                      {"dtype", sorted.value(i).dtype() == DType::bf16 ? "bfloat16" : "float32"}}));
  return sorted.with_values(std::move(values));
}

double largest(const Array& x) { return numpy::max(numpy::abs(x)).item<float>(); }
void expect_leaf(const Array& got, const json& want, const std::string& what) {
  const Array expected = golden_array(want);
  ASSERT_EQ(got.type(), expected.type()) << what;
  // bf16 by half a unit of its last place beside the rounding of f32.
  const double near = got.dtype() == DType::bf16 ? 0.005 : kNear;
  const Array a = got.astype(DType::f32), b = expected.astype(DType::f32);
  EXPECT_LE(largest(a - b), near * largest(b) + 1e-12) << what;
}
/// That these leaves are upstream's, and all others as before.
void expect_changed(const Tree& before, const Tree& after, const json& want,
                    const std::string& what) {
  for (const auto& [path, leaf] : want.items()) {
    ASSERT_TRUE(after.contains(path)) << what << ": " << path;
    expect_leaf(after[path], leaf, what + ": " + path);
  }
  for (const tree::Entry& e : after.entries()) {
    if (want.contains(e.name)) continue;
    EXPECT_TRUE(after[e.name].literal().same_bits(before[e.name].literal())) << e.name;
  }
}
/// The tree with upstream's values where it has these paths.
template <class T>
void write(T& to, const json& leaves) {
  for (const auto& [path, leaf] : leaves.items())
    tree::assign(
        to, Tree(std::initializer_list<std::pair<std::string, Array>>{{path, golden_array(leaf)}}));
}

/// Runs a case's steps; `update(model, keeper, grads)` moves both.
template <class M, class Keeper, class Update>
void run(const json& c, M& model, Keeper& keeper, const Update& update) {
  const tree::Filter wrt = filter_of(c["wrt"]);
  for (const auto& [path, leaf] : c["optimizer"].items()) {
    const Tree state = tree::of(keeper);
    ASSERT_TRUE(state.contains(path)) << path;
    EXPECT_EQ(state.entry(*state.find(path)).kind->name(), std::string(leaf["kind"])) << path;
    expect_leaf(state[path], leaf, "first " + path);
  }
  EXPECT_EQ(tree::of(keeper).size(), c["optimizer"].size());
  std::int64_t number = 0;
  for (const json& step : c["steps"]) {
    const std::string what = fmt::format("step {}", number);
    const Tree held = tree::of(keeper), old = tree::of(model);
    const Tree updates = update(model, keeper, gradients(number, tree::of(model).filter(wrt)));
    if (step.contains("updates"))
      for (const auto& [path, leaf] : step["updates"].items())
        expect_leaf(updates[path], leaf, what + ": update of " + path);
    expect_changed(held, tree::of(keeper), step["optimizer"], what);
    expect_changed(old, tree::of(model), step["params"], what);
    write(keeper, step["optimizer"]);
    write(model, step["params"]);
    ++number;
  }
}

TEST(NnxOptimizer, IsFlaxs) {
  testing::shows_names(
      "nnx.Optimizer nnx.Optimizer.update nnx.OptState nnx.OptArray nnx.OptVariable");
  compile::register_cpu();
  int seen = 0;
  for (const json& c : cases()) {
    if (!c.contains("rule") || c["name"] == "model_and_optimizer") continue;
    SCOPED_TRACE(c["name"].get<std::string>());
    ++seen;
    const auto check = [&](auto model) {
      tree::assign(model, golden_tree(c["init"]));
      Optimizer keeper(model, rule_of(c["rule"]), filter_of(c["wrt"]));
      run(c, model, keeper,
          [](auto& m, Optimizer& o, const Tree& grads) { return o.update(m, grads); });
    };
    nn::Rngs rngs(0);
    if (c["model"].get<std::string>().starts_with("Two("))
      check(Two(rngs));
    else
      check(nn::Linear(2, 3, rngs, {.param_dtype = DType::bf16}));
  }
  EXPECT_EQ(seen, 5);
}

TEST(NnxOptimizer, WithItsModelIsFlaxs) {
  testing::shows_names("nnx.ModelAndOptimizer nnx.ModelAndOptimizer.update");
  compile::register_cpu();
  for (const json& c : cases()) {
    if (c["name"] != "model_and_optimizer") continue;
    nn::Rngs rngs(0);
    Two model(rngs);
    tree::assign(model, golden_tree(c["init"]));
    ModelAndOptimizer<Two> keeper(model, rule_of(c["rule"]));
    run(c, model, keeper, [](Two& m, ModelAndOptimizer<Two>& k, const Tree& grads) {
      const Tree updates = k.update(grads);
      m = k.model;
      return updates;
    });
    return;
  }
  FAIL() << "there is no such case";
}

TEST(NnxOptimizer, TrainStateIsTheOptimizerByValue) {
  testing::shows_names("nnx.TrainState nnx.TrainState.apply nnx.TrainState.apply_gradients");
  compile::register_cpu();
  nn::Rngs rngs(0);
  Two model(rngs);
  const Array x = numpy::reshape(numpy::linspace(-1.0, 1.0, 12), {4, 3});
  const auto [params, rest] = nn::split(model, nn::of<nn::Param>(), nn::everything());
  TrainState state = TrainState::create(params, adamw(0.02));
  EXPECT_TRUE(tree::of(state).contains("params/first/kernel"));
  EXPECT_TRUE(tree::of(state).contains("opt_state/0/mu/first/kernel"));
  const auto loss = [&](const TrainState& s, const Tree& p) {
    TrainState with = s;
    with.params = p;
    Two whole = with.apply(model, rest);
    return numpy::mean(numpy::square(whole.second(whole.first(x)) - 1.0f));
  };
  const auto step = strata::jit([&](const TrainState& s) {
    return s.apply_gradients(strata::grad([&](const Tree& p) { return loss(s, p); })(s.params));
  });
  Optimizer beside(model, adamw(0.02));
  Two other = model;
  for (int i = 0; i < 3; ++i) {
    const Tree grads = strata::grad([&](const Tree& p) { return loss(state, p); })(state.params);
    beside.update(other, grads);
    state = step(state);
  }
  EXPECT_EQ(step.cache_size(), 1u);
  EXPECT_EQ(state.step.item<int>(), 3);
  EXPECT_EQ(state.step.dtype(), DType::i32);
  for (const tree::Entry& e : params.entries())
    EXPECT_LE(largest(state.params[e.name] - tree::of(other)[e.name]), 1e-6) << e.name;
  try {
    (void)state.apply_gradients(state.params.filter(tree::path_contains("kernel")));
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("first/bias"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace strata::optim
