// Every rule of the registry, killed and resumed: the bits of a run that nobody stopped.
#include "strata/checkpoint/optimizer_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "strata/api/transform/grad.h"
#include "strata/checkpoint/arrays.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/optim/optim.h"

namespace strata::checkpoint {
namespace {

using optim::GradientTransformation;
using optim::Option;
using optim::Options;
using ::testing::HasSubstr;
using tree::Tree;

constexpr int kBefore = 3, kAfter = 3;

Tree start() {
  const Array many = numpy::sin(numpy::arange(12.0f));
  return Tree({{"layers/0/bias", array({0.5f, -0.25f, 1.0f})},
               {"layers/0/kernel", numpy::reshape(many, {4, 3})},
               {"scale", numpy::full({}, 2.0)}});
}
Array loss(const Tree& p) {
  Array total(0.0f);
  for (const Array& x : p.values()) total = total + numpy::sum(numpy::square(x * x - 0.5));
  return total;
}

/// What parameters are given that have no default, by their names.
Options required() {
  const GradientTransformation adam = optim::adam(0.1);
  const auto one = [](auto f) { return Option::object(f); };
  const tree::Filter kernels = tree::path("**/kernel");
  return {
      {"learning_rate", 0.05},
      {"max_delta", 0.5},
      {"threshold", 0.5},
      {"max_norm", 1.0},
      {"clipping", 0.1},
      {"inner", adam},
      {"tx", adam},
      {"opt", adam},
      {"optimizer", adam},
      {"fast_optimizer", adam},
      {"base_optimizer", optim::sgd(0.1)},
      {"adv_optimizer", optim::sgd(0.02)},
      {"preprocessor", optim::clip(0.5)},
      {"aggregator", optim::aggregating::average_per_element_updates()},
      {"postprocessor", adam},
      {"should_transform_fn", one(optim::Condition([](const Array& step, const optim::Extra&) {
         return numpy::equal(numpy::remainder(step, 2), 0);
       }))},
      {"max_consecutive_errors", 2},
      {"transforms", std::vector<Option>{optim::clip(0.5), adam}},
      {"step_size", 0.5},
      {"step_size_fn", optim::linear_schedule(0.1, 0.0, 5)},
      {"max_backtracking_steps", 5},
      {"max_linesearch_steps", 5},
      {"sync_period", 2},
      {"slow_step_size", 0.5},
      {"mask", kernels},
      {"freeze_mask", kernels},
      {"measure_name", "norm"},
      {"measure", one(optim::Measure([](const Tree& u) { return optim::trees::norm(u); }))},
      {"decay", 0.9},
      {"every_k_schedule", 2},
      {"eta", 0.1},
      {"gamma", 0.5},
      {"l2_norm_clip", 1.0},
      {"noise_multiplier", 0.1},
      {"seed", 0},
      {"accumulation_steps", 2},
      {"per_elt_axis", std::vector<Option>{0}},
      {"init_step", 0.1},
      {"inner_factory", "adam"},
      {"param_labels", one(optim::Labels([](const tree::Entry&, const Array& x) {
         return std::string(x.ndim() == 2 ? "matrix" : "other");
       }))},
  };
}
/// What some rules are given besides, or in place of it.
Options own(const std::string& name) {
  const GradientTransformation adam = optim::adam(0.1), sgd = optim::sgd(0.1, {.momentum = 0.9});
  if (name == "named_chain")
    return {{"transforms", std::vector<Option>{std::vector<Option>{"clip", optim::clip(0.5)},
                                               std::vector<Option>{"adam", adam}}}};
  if (name == "partition" || name == "multi_transform")
    return {{"transforms", Options{{"matrix", adam}, {"other", sgd}}}};
  if (name == "groups")
    return {
        {"groups", std::vector<Option>{
                       Options{{"params", "**/kernel"}, {"name", "adam"}, {"learning_rate", 0.1}},
                       Options{{"params", "**"}, {"name", "rmsprop"}, {"learning_rate", 0.1}}}}};
  if (name.starts_with("inject_"))
    return {{"arguments",
             Options{{"learning_rate", optim::linear_schedule(0.1, 0.0, 5)}, {"b1", 0.8}}}};
  if (name == "monitor")
    return {{"measures", Options{{"norm", Option::object(optim::Measure([](const Tree& u) {
                                    return optim::trees::norm(u);
                                  }))}}}};
  if (name == "stateless")
    return {{"f", Option::object(std::function<Tree(const Tree&, const Tree*)>(
                      [](const Tree& u, const Tree*) { return optim::trees::scale(0.5, u); }))}};
  if (name == "stateless_with_tree_map")
    return {{"f", Option::object(std::function<Array(const Array&, const Array*)>(
                      [](const Array& u, const Array* p) { return u - 0.25 * *p; }))}};
  if (name == "quantized_state") return {{"min_size", 1}, {"block_size", 4}};
  if (name == "scale_by_soap" || name == "soap") return {{"precondition_frequency", 2}};
  if (name == "scale_by_shampoo" || name == "shampoo") return {{"precondition_frequency", 2}};
  if (name.ends_with("galore")) return {{"rank", 2}, {"update_proj_gap", 2}};
  if (name == "contrib.sophia") return {{"update_interval", 2}};
  return {};
}
GradientTransformation made(const optim::Described& d) {
  const Options all = required();
  Options options = own(d.name);
  for (const optim::Parameter& p : d.parameters)
    if (p.default_text.empty() && !options.contains(p.name))
      if (const auto it = all.find(p.name); it != all.end()) options[p.name] = it->second;
  return optim::make(d.name, options);
}
bool of_examples(const std::string& name) {
  return (name.starts_with("experimental.") && !name.ends_with("accumulate_avg_updates")) ||
         name.ends_with("dpsgd") || name.ends_with("differentially_private_aggregate");
}

struct Training {
  GradientTransformation tx;
  Tree params, state;
};
Training begin(const optim::Described& d) {
  Training run{made(d), start(), Tree()};
  if (d.name.ends_with("sm3")) run.params = start().filter(tree::path("layers/**"));
  if (d.name == "contrib.scale_by_muon") run.params = start().filter(tree::path("**/kernel"));
  if (d.name == "lookahead") run.params = optim::lookahead_params(run.params);
  run.state = run.tx.init(run.params);
  return run;
}
/// Step `number` of a run: gradients depend on parameters and the number.
void step(const std::string& name, Training& run, int number) {
  const Tree at = name == "lookahead" ? run.params.subtree("fast") : run.params;
  Tree g = grad(loss)(at).map([&](const Array& x) { return x + 0.1 * (number + 1); });
  if (name == "experimental.aggregating.track_per_element_mean_and_variance_with_ema")
    g = at.map([](const Array& x) { return numpy::cos(x); });
  else if (of_examples(name))
    g = g.map([](const Array& x) { return numpy::stack({x, 0.5 * x, -2.0 * x}); });
  optim::Extra extra{.value = loss(at), .grad = g, .value_fn = loss, .obj_fn = loss};
  extra.grad_fn = [](const Tree& p, const Array&) { return grad(loss)(p); };
  if (name == "experimental.aggregating.track_per_element_mean_and_variance_with_ema")
    extra.more =
        tree::merge({Tree({{"sample_size", numpy::full({}, 3.0)}}), g.below("sum_sq_diff_grads")});
  auto [updates, next] =
      run.tx.update(g, run.state, run.params, optim::taken(extra, run.tx.rule().needs()));
  run.state = next;
  if (differences(updates, run.params).empty() && !of_examples(name))
    run.params = optim::apply_updates(run.params, updates);
}
std::string file_of(const std::string& name, const char* what) {
  std::string flat = name;
  std::replace(flat.begin(), flat.end(), '.', '_');
  return ::testing::TempDir() + "resumed_" + flat + "_" + what + ".safetensors";
}
void expect_same_bits(const Tree& got, const Tree& want) {
  ASSERT_EQ(got.names(), want.names());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(got.value(i).type() == want.value(i).type() &&
                got.value(i).literal().same_bits(want.value(i).literal()))
        << got.entry(i).name;
}
std::map<std::string, Array> by_name(const Tree& t) {
  std::map<std::string, Array> out;
  for (std::size_t i = 0; i < t.size(); ++i) out.emplace(t.entry(i).name, t.value(i));
  return out;
}

/// A process that runs every rule for some steps, saves, and is killed amid the next step.
void run_until_killed() {
  int failed = 0;
  for (const optim::Described& d : optim::described_rules()) {
    try {
      Training run = begin(d);
      for (int i = 0; i < kBefore; ++i) step(d.name, run, i);
      failed += !save_optimizer_state(run.tx, run.state, file_of(d.name, "state")).ok();
      failed += !save_file(by_name(run.params), file_of(d.name, "params")).ok();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s: %s\n", d.name.c_str(), e.what());
      ++failed;
    }
  }
  if (failed) ::_exit(failed);
  ::kill(::getpid(), SIGKILL);
}

TEST(OptimizerState, EveryRuleResumesToTheSameBits) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    compile::register_cpu();
    run_until_killed();
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << WEXITSTATUS(status);
  compile::register_cpu();
  int resumed = 0;
  for (const optim::Described& d : optim::described_rules()) {
    SCOPED_TRACE(d.name);
    Training whole = begin(d), later = begin(d);
    for (int i = 0; i < kBefore + kAfter; ++i) step(d.name, whole, i);
    const auto state = load_optimizer_state(later.tx, later.state, file_of(d.name, "state"));
    ASSERT_TRUE(state.ok()) << state.status().message();
    later.state = *state;
    const auto params = load_file(file_of(d.name, "params"));
    ASSERT_TRUE(params.ok()) << params.status().message();
    for (const auto& [name, value] : *params) later.params.set(name, value);
    for (int i = kBefore; i < kBefore + kAfter; ++i) step(d.name, later, i);
    expect_same_bits(later.state, whole.state);
    expect_same_bits(later.params, whole.params);
    ++resumed;
    ::unlink(file_of(d.name, "state").c_str());
    ::unlink(file_of(d.name, "params").c_str());
  }
  EXPECT_GT(resumed, 125);
}

TEST(OptimizerState, TensorsAreCalledAsUpstreamsFields) {
  compile::register_cpu();
  const GradientTransformation tx = optim::chain(optim::clip_by_global_norm(1.0),
                                                 optim::adamw(optim::linear_schedule(0.1, 0.0, 5)));
  const std::string path = file_of("names", "state");
  ASSERT_TRUE(save_optimizer_state(tx, tx.init(start()), path).ok());
  const auto tensors = load_file(path);
  ASSERT_TRUE(tensors.ok());
  std::vector<std::string> names;
  for (const auto& [name, value] : *tensors) names.push_back(name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"1/0/count", "1/0/mu/layers/0/bias", "1/0/mu/layers/0/kernel",
                                      "1/0/mu/scale", "1/0/nu/layers/0/bias",
                                      "1/0/nu/layers/0/kernel", "1/0/nu/scale", "1/2/count"}));
}

TEST(OptimizerState, AChangedOptimizerNamesBoth) {
  compile::register_cpu();
  const GradientTransformation was = optim::adam(0.1), now = optim::adam(0.2),
                               other = optim::lion(0.1);
  const std::string path = file_of("changed", "state");
  const Tree state = was.init(start());
  ASSERT_TRUE(save_optimizer_state(was, state, path).ok());
  const auto message = [&](const GradientTransformation& tx, const Tree& like,
                           ChangedOptimizer changed) {
    const auto loaded = load_optimizer_state(tx, like, path, changed);
    return loaded.ok() ? std::string() : loaded.status().message();
  };
  EXPECT_EQ(message(was, state, ChangedOptimizer::is_refused), "");
  EXPECT_THAT(message(now, state, ChangedOptimizer::is_refused),
              HasSubstr("is the state of chain(scale_by_adam(), scale(-0.1)); the optimizer now is "
                        "chain(scale_by_adam(), scale(-0.2))"));
  EXPECT_EQ(message(now, state, ChangedOptimizer::is_taken), "");
  EXPECT_THAT(message(other, other.init(start()), ChangedOptimizer::is_refused),
              HasSubstr("the optimizer now is chain(scale_by_lion()"));
  EXPECT_THAT(message(other, other.init(start()), ChangedOptimizer::is_taken),
              HasSubstr("has 0/nu/layers/0/bias besides; the optimizer now is chain("));
  Tree wide = state;
  wide.set("0/nu/scale", numpy::zeros({7}));
  EXPECT_THAT(message(was, wide, ChangedOptimizer::is_refused),
              HasSubstr("has 0/nu/scale as f32[], not f32[7]"));
  ASSERT_TRUE(save_file(by_name(state), path).ok());
  EXPECT_THAT(message(was, state, ChangedOptimizer::is_refused),
              HasSubstr("does not say of which optimizer it is"));
}

}  // namespace
}  // namespace strata::checkpoint
