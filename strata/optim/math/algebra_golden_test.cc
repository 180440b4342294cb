// Line searches, wrappers, assignment, roots, perturbed functions beside Optax's.
#include <cmath>
#include <limits>

#include "strata/api/nn.h"
#include "strata/api/testing.h"
#include "strata/optim/math/algebra.h"
#include "strata/optim/math/perturbations.h"
#include "strata/optim/math/projections.h"
#include "strata/optim/optax_golden.h"
#include "strata/optim/rules/line_search.h"
#include "strata/optim/updates.h"

namespace strata::optim {
namespace {

TEST(OptaxAlgebra, LineSearches) {
  OptaxGolden golden("line_search");
  golden.tolerance("", 1e-5);
  golden.least(1e-7);
  golden.on("value_and_grad_from_state", [](const OptaxCall& c) {
    GradientTransformation tx;
    read(c.options.at("rule"), "rule", tx);
    const auto loss = golden_objective(*c.options.at("objective").object<std::string>());
    const auto anew = value_and_grad_from_state(loss);
    const OptaxGolden cases("line_search");
    Tree params;
    for (const json& one : cases.cases())
      if (one["name"] == "value_and_grad_from_state") {
        std::vector<Tree> leaves;
        for (const auto& [path, said] : one["results"].items())
          if (path.starts_with("step_0/params/"))
            leaves.push_back(golden_tree({{path.substr(14), said}}));
        params = tree::merge(leaves);
      }
    Tree state = tx.init(params);
    std::vector<Tree> out;
    for (int step = 0; step < 3; ++step) {
      const auto [value, grad] = anew(params, state);
      const std::string front = "step_" + std::to_string(step);
      out.push_back(params.below(front + "/params"));
      out.push_back(grad.below(front + "/grad"));
      out.push_back(Tree({{front + "/value", value}}));
      auto [updates, next] =
          tx.update(grad, state, params, {.value = value, .grad = grad, .value_fn = loss});
      state = next;
      params = apply_updates(params, updates);
    }
    return tree::merge(out);
  });
  golden.run();
}

TEST(OptaxAlgebra, Wrappers) {
  OptaxGolden golden("wrappers");
  golden.leave("multi_steps_infinity");
  golden.also_shows(
      "optax.skip_not_finite optax.skip_large_updates optax.LookaheadParams "
      "optax.contrib.schedule_free_eval_params "
      "optax.experimental.aggregating.get_per_element_mean_and_sum_sq_diff_grads "
      "optax.experimental.aggregating.track_per_element_mean_and_variance_with_ema "
      "optax.experimental.aggregating.get_unbiased_mean_and_variance_ema "
      "optax.experimental.aggregating.get_batch_size_from_per_elt_updates");
  golden.tolerance("schedule_free", 1e-5);  // differences of parameters
  golden.run();
}

// Upstream runs the inner rule at each step and multiplies by 0, which makes infinities NaN.
TEST(OptaxAlgebra, InfinityOnASilentStepIsSilent) {
  OptaxGolden golden("wrappers");
  for (const json& c : golden.cases()) {
    if (c["name"] != "multi_steps_infinity") continue;
    GradientTransformation tx;
    read(golden_option(c["call"]), "call", tx);
    const Tree params = golden_tree(c["params"]);
    Tree state = tx.init(params);
    for (std::size_t i = 0; i < 2; ++i) {
      auto [updates, next] = tx.update(golden_tree(c["steps"][i]["gradients"]), state, params);
      for (const Array& u : updates.values())
        for (float v : numpy::ravel(u).to_vector<float>()) EXPECT_EQ(v, 0.0f);
      state = next;
    }
  }
}

Array squares(const Tree& params, const Array& inputs, const Array& targets) {
  const Array hidden = numpy::tanh(numpy::matmul(inputs, params["w"]));
  return numpy::mean(numpy::square(numpy::matmul(hidden, params["v"]) - targets));
}
Array one_hot_argmax(const Array& x) { return nn::one_hot(numpy::argmax(x, -1), x.shape(-1)); }
Array weights_like(const Array& x) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < x.size(); ++i)
    values.push_back(static_cast<float>((77 * 7919 + i * 104729) % 2003 - 1001) / 1024.0f);
  return numpy::reshape(array(values), x.shape().sizes());
}

TEST(OptaxAlgebra, Functions) {
  OptaxGolden golden("algebra");
  golden.tolerance("", 1e-5);
  golden.leave("root");
  golden.on("assignment.hungarian_algorithm", [](const OptaxCall& c) {
    const auto [rows, columns] = assignment::hungarian_algorithm(c.array("cost_matrix"));
    return numbered({rows, columns});
  });
  golden.on("assignment.base_hungarian_algorithm", [](const OptaxCall& c) {
    const auto [rows, columns] = assignment::base_hungarian_algorithm(c.array("cost_matrix"));
    return numbered({rows, columns});
  });
  golden.on("nnls", [](const OptaxCall& c) {
    const auto bound = c.option("L", std::optional<double>());
    return one_leaf(nnls(c.array("A"), c.array("b"), c.option("iters", std::int64_t{1}),
                         bound ? std::optional(Array(*bound)) : std::nullopt));
  });
  golden.on("power_iteration", [](const OptaxCall& c) {
    std::optional<Array> v0;
    if (c.inputs.size() == 2) v0 = c.array("v0");
    const auto [eig, vector] =
        power_iteration(c.array("matrix"), v0,
                        {.num_iters = c.option("num_iters", std::int64_t{100}),
                         .error_tolerance = c.option("error_tolerance", 1e-6)},
                        c.option("key", random::key(0)));
    return numbered({eig, vector});
  });
  golden.on("second_order.hvp", [](const OptaxCall& c) {
    return second_order::hvp(squares, c.array("v"), c.in("params"), c.array("inputs"),
                             c.array("targets"));
  });
  golden.on("second_order.hessian_diag", [](const OptaxCall& c) {
    return one_leaf(
        second_order::hessian_diag(squares, c.in("params"), c.array("inputs"), c.array("targets")));
  });
  golden.on("second_order.fisher_diag", [](const OptaxCall& c) {
    return one_leaf(
        second_order::fisher_diag(squares, c.in("params"), c.array("inputs"), c.array("targets")));
  });
  golden.on("perturbations.make_perturbed_fun", [](const OptaxCall& c) {
    const bool sum = *c.options.at("fun").object<std::string>() == "weighted_sum";
    const auto fun = [sum](const Tree& x) {
      const Array hot = one_hot_argmax(x.value(0));
      return one_leaf(sum ? numpy::sum(hot * weights_like(hot)) : hot);
    };
    const auto perturbed = perturbations::make_perturbed_fun(
        fun, {.num_samples = c.option("num_samples", std::int64_t{1000}),
              .sigma = c.option("sigma", 0.1),
              .noise = c.option("noise", std::string()) == "Normal" ? perturbations::Normal()
                                                                    : perturbations::Gumbel(),
              .use_baseline = c.option("use_baseline", true)});
    return perturbed(c.option("key", random::key(0)), c.in("x"));
  });
  for (const auto& [name, noise] :
       {std::pair("Gumbel", perturbations::Gumbel()), {"Normal", perturbations::Normal()}}) {
    const std::string front = std::string("perturbations.") + name;
    golden.on(front + ".log_prob", [law = noise](const OptaxCall& c) {
      return one_leaf(law.log_prob(c.array("inputs")));
    });
    golden.on(front + ".sample", [law = noise](const OptaxCall& c) {
      return one_leaf(law.sample(c.option("key", random::key(0)),
                                 Sizes(c.option("shape", std::vector<std::int64_t>())),
                                 DType::f32));
    });
  }
  golden.on("multi_normal.log_prob", [](const OptaxCall& c) {
    return one_leaf(multi_normal(c.array("loc"), c.array("log_scale")).log_prob(c.array("inputs")));
  });
  golden.on("multi_normal.sample", [](const OptaxCall& c) {
    return one_leaf(multi_normal(c.array("loc"), c.array("log_scale"))
                        .sample(Sizes(c.option("shape", std::vector<std::int64_t>())),
                                c.option("seed", random::key(0))));
  });
  golden.run();
}

// The error that a root leaves is rounding, of which the size alone counts.
TEST(OptaxAlgebra, InverseRoots) {
  testing::shows_names("optax.matrix_inverse_pth_root");
  const OptaxGolden golden("algebra");
  for (const json& c : golden.cases()) {
    const std::string name = c["name"];
    if (!name.starts_with("root")) continue;
    SCOPED_TRACE(name);
    const json& args = c["call"]["args"];
    const auto [root, error] = matrix_inverse_pth_root(
        golden_array(c["inputs"]["matrix"][""]), args["p"].get<std::int64_t>(),
        {.num_iters = args.value("num_iters", std::int64_t{100}),
         .ridge_epsilon = args.value("ridge_epsilon", 1e-6)});
    expect_near(one_leaf(root), {{"", c["results"]["0"]}}, 1e-5, "root");
    const double want = golden_array(c["results"]["1"]).item<double>();
    EXPECT_NEAR(error.item<double>(), want, 1e-5 + 0.01 * want);
  }
}

}  // namespace
}  // namespace strata::optim
