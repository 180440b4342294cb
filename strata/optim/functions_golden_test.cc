// Losses, projections, transforms' functions, tree utilities and microbatches beside Optax's.
#include "strata/api/lax.h"
#include "strata/api/testing.h"
#include "strata/optim/losses.h"
#include "strata/optim/math/projections.h"
#include "strata/optim/math/trees.h"
#include "strata/optim/optax_golden.h"
#include "strata/optim/transform/clip.h"
#include "strata/optim/transform/microbatching.h"
#include "strata/optim/updates.h"

namespace strata::optim {
namespace {

using numpy::astype;

std::optional<Array> input(const OptaxCall& c, const std::string& name) {
  for (const auto& [known, values] : c.inputs)
    if (known == name) return values.value(0);
  return std::nullopt;
}
std::optional<std::vector<std::int64_t>> axes_of(const OptaxCall& c) {
  return c.option("axis", std::optional<std::vector<std::int64_t>>());
}
losses::Rows rows(const OptaxCall& c) {
  losses::Rows o;
  if (const auto axes = axes_of(c)) o.axis = *axes;
  o.where = input(c, "where");
  return o;
}
losses::DiceOptions dice(const OptaxCall& c) {
  losses::DiceOptions o;
  o.class_weights = input(c, "class_weights");
  o.smooth = c.option("smooth", o.smooth);
  o.alpha = c.option("alpha", o.alpha);
  o.beta = c.option("beta", o.beta);
  o.apply_softmax = c.option("apply_softmax", o.apply_softmax);
  o.reduction = c.option("reduction", o.reduction);
  o.ignore_background = c.option("ignore_background", o.ignore_background);
  o.axis = axes_of(c);
  return o;
}
losses::CtcOptions ctc(const OptaxCall& c) {
  return {.blank_id = c.option("blank_id", std::int64_t{0}),
          .log_epsilon = c.option("log_epsilon", -1e5)};
}

TEST(OptaxFunctions, Losses) {
  OptaxGolden golden("losses");
  golden.tolerance("", 1e-6);
  golden.tolerance("cosine_distance", 1e-5);  // 1 - a cosine
  const auto on = [&](const char* name, std::function<Array(const OptaxCall&)> f) {
    golden.on(std::string("losses.") + name,
              [f = std::move(f)](const OptaxCall& c) { return one_leaf(f(c)); });
  };
  // Of predictions and targets.
  const auto pair = [&](const char* name, Array (*f)(const Array&, const std::optional<Array>&)) {
    on(name, [f](const OptaxCall& c) { return f(c.array("predictions"), input(c, "targets")); });
  };
  pair("squared_error", &losses::squared_error);
  pair("l2_loss", &losses::l2_loss);
  pair("log_cosh", &losses::log_cosh);
  on("huber_loss", [](const OptaxCall& c) {
    return losses::huber_loss(c.array("predictions"), input(c, "targets"), c.option("delta", 1.0));
  });
  const auto cosine = [](const OptaxCall& c) {
    const losses::Rows r = rows(c);
    return losses::CosineOptions{
        .epsilon = c.option("epsilon", 0.0), .axis = r.axis, .where = r.where};
  };
  on("cosine_similarity", [=](const OptaxCall& c) {
    return losses::cosine_similarity(c.array("predictions"), c.array("targets"), cosine(c));
  });
  on("cosine_distance", [=](const OptaxCall& c) {
    return losses::cosine_distance(c.array("predictions"), c.array("targets"), cosine(c));
  });
  on("sigmoid_binary_cross_entropy", [](const OptaxCall& c) {
    return losses::sigmoid_binary_cross_entropy(c.array("logits"), c.array("labels"));
  });
  on("sigmoid_focal_loss", [](const OptaxCall& c) {
    return losses::sigmoid_focal_loss(
        c.array("logits"), c.array("labels"),
        {.alpha = c.option("alpha", std::optional<double>()), .gamma = c.option("gamma", 2.0)});
  });
  on("hinge_loss", [](const OptaxCall& c) {
    return losses::hinge_loss(c.array("predictor_outputs"), c.array("targets"));
  });
  on("perceptron_loss", [](const OptaxCall& c) {
    return losses::perceptron_loss(c.array("predictor_outputs"), c.array("targets"));
  });
  on("sparsemax_loss", [](const OptaxCall& c) {
    return losses::sparsemax_loss(c.array("logits"), c.array("labels"));
  });
  on("softmax_cross_entropy", [](const OptaxCall& c) {
    return losses::softmax_cross_entropy(c.array("logits"), c.array("labels"), rows(c));
  });
  on("safe_softmax_cross_entropy", [](const OptaxCall& c) {
    return losses::safe_softmax_cross_entropy(c.array("logits"), c.array("labels"));
  });
  on("softmax_cross_entropy_with_integer_labels", [](const OptaxCall& c) {
    return losses::softmax_cross_entropy_with_integer_labels(c.array("logits"), c.array("labels"),
                                                             rows(c));
  });
  on("poly_loss_cross_entropy", [](const OptaxCall& c) {
    return losses::poly_loss_cross_entropy(c.array("logits"), c.array("labels"),
                                           c.option("epsilon", 2.0), rows(c));
  });
  on("multiclass_hinge_loss", [](const OptaxCall& c) {
    return losses::multiclass_hinge_loss(c.array("scores"), c.array("labels"));
  });
  on("multiclass_perceptron_loss", [](const OptaxCall& c) {
    return losses::multiclass_perceptron_loss(c.array("scores"), c.array("labels"));
  });
  on("multiclass_sparsemax_loss", [](const OptaxCall& c) {
    return losses::multiclass_sparsemax_loss(c.array("scores"), c.array("labels"));
  });
  on("make_fenchel_young_loss", [](const OptaxCall& c) {
    const auto loss = losses::make_fenchel_young_loss(
        [](const Array& x) { return numpy::logsumexp(x, {.axis = -1}); });
    return loss(c.array("scores"), c.array("targets"));
  });
  on("smooth_labels", [](const OptaxCall& c) {
    return losses::smooth_labels(c.array("labels"), c.option("alpha", 0.0), rows(c));
  });
  on("kl_divergence", [](const OptaxCall& c) {
    return losses::kl_divergence(c.array("log_predictions"), c.array("targets"), rows(c));
  });
  on("kl_divergence_with_log_targets", [](const OptaxCall& c) {
    return losses::kl_divergence_with_log_targets(c.array("log_predictions"),
                                                  c.array("log_targets"), rows(c));
  });
  on("generalized_kl_divergence", [](const OptaxCall& c) {
    return losses::generalized_kl_divergence(c.array("log_predictions"), c.array("targets"),
                                             rows(c));
  });
  on("convex_kl_divergence", [](const OptaxCall& c) {
    return losses::convex_kl_divergence(c.array("log_predictions"), c.array("targets"), rows(c));
  });
  on("ranking_softmax_loss", [](const OptaxCall& c) {
    losses::RankingOptions o{.where = input(c, "where"), .weights = input(c, "weights")};
    if (c.has("reduce_fn"))
      o.reduce = c.options.at("reduce_fn").is_none()
                     ? "none"
                     : *c.options.at("reduce_fn").object<std::string>();
    return losses::ranking_softmax_loss(c.array("logits"), c.array("labels"), o);
  });
  on("dice_loss", [](const OptaxCall& c) {
    return losses::dice_loss(c.array("predictions"), c.array("targets"), dice(c));
  });
  on("multiclass_generalized_dice_loss", [](const OptaxCall& c) {
    return losses::multiclass_generalized_dice_loss(c.array("predictions"), c.array("targets"),
                                                    dice(c));
  });
  on("binary_dice_loss", [](const OptaxCall& c) {
    return losses::binary_dice_loss(c.array("predictions"), c.array("targets"),
                                    c.option("smooth", 1.0), c.option("apply_sigmoid", true));
  });
  on("ntxent", [](const OptaxCall& c) {
    return losses::ntxent(c.array("embeddings"), c.array("labels"), c.option("temperature", 0.07));
  });
  on("triplet_margin_loss", [](const OptaxCall& c) {
    return losses::triplet_margin_loss(c.array("anchors"), c.array("positives"),
                                       c.array("negatives"),
                                       {.axis = c.option("axis", std::int64_t{-1}),
                                        .norm_degree = c.option("norm_degree", 2.0),
                                        .margin = c.option("margin", 1.0),
                                        .eps = c.option("eps", 1e-6)});
  });
  on("ctc_loss", [](const OptaxCall& c) {
    return losses::ctc_loss(c.array("logits"), c.array("logit_paddings"), c.array("labels"),
                            c.array("label_paddings"), ctc(c));
  });
  golden.on("losses.ctc_loss_with_forward_probs", [](const OptaxCall& c) {
    const losses::CtcResult r =
        losses::ctc_loss_with_forward_probs(c.array("logits"), c.array("logit_paddings"),
                                            c.array("labels"), c.array("label_paddings"), ctc(c));
    return numbered({r.loss, r.logalpha_phi, r.logalpha_emit});
  });
  golden.run();
}

TEST(OptaxFunctions, Projections) {
  OptaxGolden golden("projections");
  golden.tolerance("", 1e-6);
  using Scaled = Tree (*)(const Tree&, const Rate&);
  const std::map<std::string, Scaled> scaled{{"hypercube", &projections::projection_hypercube},
                                             {"simplex", &projections::projection_simplex},
                                             {"l1_sphere", &projections::projection_l1_sphere},
                                             {"l1_ball", &projections::projection_l1_ball},
                                             {"l2_sphere", &projections::projection_l2_sphere},
                                             {"l2_ball", &projections::projection_l2_ball},
                                             {"linf_ball", &projections::projection_linf_ball}};
  for (const auto& [name, f] : scaled)
    golden.on("projections.projection_" + name, [project = f](const OptaxCall& c) {
      const std::optional<Array> scale = input(c, "scale");
      return project(c.in("tree"), scale ? Rate(*scale) : c.option("scale", Rate(1.0)));
    });
  golden.on("projections.projection_non_negative",
            [](const OptaxCall& c) { return projections::projection_non_negative(c.in("tree")); });
  golden.on("projections.projection_box", [](const OptaxCall& c) {
    if (c.inputs.size() == 3)
      return projections::projection_box(c.in("tree"), c.in("lower"), c.in("upper"));
    return projections::projection_box(c.in("tree"), c.option("lower", Rate()),
                                       c.option("upper", Rate()));
  });
  golden.on("projections.projection_vector", [](const OptaxCall& c) {
    return projections::projection_vector(c.in("x"), c.in("a"));
  });
  golden.on("projections.projection_hyperplane", [](const OptaxCall& c) {
    return projections::projection_hyperplane(c.in("x"), c.in("a"), c.array("b"));
  });
  golden.on("projections.projection_halfspace", [](const OptaxCall& c) {
    return projections::projection_halfspace(c.in("x"), c.in("a"), c.array("b"));
  });
  golden.run();
}

/// What `tree.` and `transforms` have both.
void add_moments(OptaxGolden& golden, const std::string& front) {
  golden.on(front + "bias_correction", [](const OptaxCall& c) {
    return trees::bias_correction(c.in("moment"), c.option("decay", Rate()), c.array("count"));
  });
  golden.on(front + "update_moment", [](const OptaxCall& c) {
    return trees::update_moment(c.in("updates"), c.in("moments"), c.option("decay", Rate()),
                                static_cast<int>(c.option("order", std::int64_t{1})));
  });
  golden.on(front + "update_moment_per_elem_norm", [](const OptaxCall& c) {
    return trees::update_moment_per_elem_norm(c.in("updates"), c.in("moments"),
                                              c.option("decay", Rate()),
                                              static_cast<int>(c.option("order", std::int64_t{1})));
  });
  golden.on(front + "update_infinity_moment", [](const OptaxCall& c) {
    return trees::update_infinity_moment(c.in("updates"), c.in("moments"),
                                         c.option("decay", Rate()), c.option("eps", Rate()));
  });
}

TEST(OptaxFunctions, Transforms) {
  OptaxGolden golden("transforms");
  golden.tolerance("per_example", 1e-6);
  add_moments(golden, "");
  const auto both = [](const Tree& a, const Tree& b) {
    return tree::merge({a.below("0"), b.below("1")});
  };
  golden.on("per_example_global_norm_clip", [=](const OptaxCall& c) {
    const auto [sum, count] =
        per_example_global_norm_clip(c.in("grads"), c.option("l2_norm_clip", Rate()));
    return both(sum, one_leaf(count));
  });
  golden.on("per_example_layer_norm_clip", [=](const OptaxCall& c) {
    const auto [sum, count] = per_example_layer_norm_clip(
        c.in("grads"), c.option("global_l2_norm_clip", Rate()), c.option("uniform", true));
    return both(sum, count);
  });
  golden.on("transforms.unitwise_norm",
            [](const OptaxCall& c) { return one_leaf(unitwise_norm(c.array("x"), axes_of(c))); });
  golden.on("transforms.unitwise_clip", [](const OptaxCall& c) {
    return one_leaf(unitwise_clip(c.array("g_norm"), c.array("max_norm"), c.array("grad")));
  });
  golden.on("safe_norm", [](const OptaxCall& c) {
    SafeNorm o{.ord = c.option("ord", std::optional<double>()),
               .keepdims = c.option("keepdims", false)};
    if (const auto axes = axes_of(c)) o.axis = *axes;
    return one_leaf(safe_norm(c.array("x"), c.option("min_norm", Rate()), o));
  });
  golden.on("safe_root_mean_squares", [](const OptaxCall& c) {
    return one_leaf(safe_root_mean_squares(c.array("x"), c.option("min_rms", Rate())));
  });
  golden.on("global_norm",
            [](const OptaxCall& c) { return one_leaf(global_norm(c.in("updates"))); });
  golden.on("safe_increment",
            [](const OptaxCall& c) { return one_leaf(safe_increment(c.array("count"))); });
  golden.on("apply_updates",
            [](const OptaxCall& c) { return apply_updates(c.in("params"), c.in("updates")); });
  golden.on("incremental_update", [](const OptaxCall& c) {
    return incremental_update(c.in("new_tensors"), c.in("old_tensors"),
                              c.option("step_size", Rate()));
  });
  golden.on("periodic_update", [](const OptaxCall& c) {
    return periodic_update(c.in("new_tensors"), c.in("old_tensors"),
                           Array(c.option("steps", std::int64_t{0})),
                           c.option("update_period", std::int64_t{1}));
  });
  golden.on("scale_gradient", [](const OptaxCall& c) {
    return scale_gradient(c.in("inputs"), c.option("scale", 1.0));
  });
  golden.run();
}

TEST(OptaxFunctions, Trees) {
  OptaxGolden golden("tree");
  golden.tolerance("norm", 1e-6);
  golden.leave("unwrap_random_key_data");  // keys are integers here
  add_moments(golden, "tree.");
  const auto on = [&](const char* name, std::function<Tree(const OptaxCall&)> f) {
    golden.on(std::string("tree.") + name, std::move(f));
  };
  const auto scalar = [](const OptaxCall& c, const char* name) {
    const std::optional<Array> given = input(c, name);
    return given ? Rate(*given) : c.option(name, Rate());
  };
  const auto dtype = [](const OptaxCall& c) { return c.option("dtype", std::optional<DType>()); };
  on("add", [](const OptaxCall& c) {
    const Tree sum = trees::add(c.in("tree_x"), c.in("tree_y"));
    return c.inputs.size() == 3 ? trees::add(sum, c.in("tree_z")) : sum;
  });
  on("sub", [](const OptaxCall& c) { return trees::sub(c.in("tree_x"), c.in("tree_y")); });
  on("mul", [](const OptaxCall& c) { return trees::mul(c.in("tree_x"), c.in("tree_y")); });
  on("div", [](const OptaxCall& c) { return trees::div(c.in("tree_x"), c.in("tree_y")); });
  on("scale", [=](const OptaxCall& c) { return trees::scale(scalar(c, "scalar"), c.in("tree")); });
  on("add_scale", [=](const OptaxCall& c) {
    return trees::add_scale(c.in("tree_x"), scalar(c, "scalar"), c.in("tree_y"));
  });
  on("sum", [](const OptaxCall& c) { return one_leaf(trees::sum(c.in("tree"))); });
  on("max", [](const OptaxCall& c) { return one_leaf(trees::max(c.in("tree"))); });
  on("min", [](const OptaxCall& c) { return one_leaf(trees::min(c.in("tree"))); });
  on("size", [](const OptaxCall& c) { return one_leaf(Array(trees::size(c.in("tree")))); });
  on("norm", [](const OptaxCall& c) {
    trees::Order order = trees::Order::two;
    if (const auto it = c.options.find("ord"); it != c.options.end()) {
      if (it->second.as<std::string>()) order = trees::Order::infinity;
      if (const auto* n = it->second.as<std::int64_t>(); n && *n == 1) order = trees::Order::one;
    }
    return one_leaf(trees::norm(c.in("tree"), c.option("squared", false), order));
  });
  on("vdot",
     [](const OptaxCall& c) { return one_leaf(trees::vdot(c.in("tree_x"), c.in("tree_y"))); });
  on("conj", [](const OptaxCall& c) { return trees::conj(c.in("tree")); });
  on("real", [](const OptaxCall& c) { return trees::real(c.in("tree")); });
  on("clip", [](const OptaxCall& c) {
    return trees::clip(c.in("tree"), c.option("min_value", Rate()), c.option("max_value", Rate()));
  });
  on("where", [](const OptaxCall& c) {
    return trees::where(c.array("condition"), c.in("tree_x"), c.in("tree_y"));
  });
  on("zeros_like", [=](const OptaxCall& c) { return trees::zeros_like(c.in("tree"), dtype(c)); });
  on("ones_like", [=](const OptaxCall& c) { return trees::ones_like(c.in("tree"), dtype(c)); });
  on("full_like", [=](const OptaxCall& c) {
    return trees::full_like(c.in("tree"), c.option("fill_value", Rate()), dtype(c));
  });
  on("cast", [=](const OptaxCall& c) { return trees::cast(c.in("tree"), dtype(c)); });
  on("cast_like",
     [](const OptaxCall& c) { return trees::cast_like(c.in("tree"), c.in("other_tree")); });
  on("allclose", [](const OptaxCall& c) {
    return one_leaf(
        trees::allclose(c.in("a"), c.in("b"), c.option("rtol", 1e-5), c.option("atol", 1e-8)));
  });
  on("batch_shape", [](const OptaxCall& c) {
    return trees::batch_shape(c.in("tree"), Sizes(c.option("shape", std::vector<std::int64_t>())));
  });
  on("dtype", [](const OptaxCall& c) {
    const std::string how = c.option("mixed_dtype_handler", std::string());
    const trees::Common common = how == "promote"   ? trees::Common::promote
                                 : how == "highest" ? trees::Common::highest
                                                    : trees::Common::lowest;
    return one_leaf(numpy::zeros({}, trees::dtype(c.in("tree"), common)));
  });
  on("split_key_like", [](const OptaxCall& c) {
    const Tree& like = c.in("target_tree");
    std::vector<Array> words;
    for (const random::Key& key : trees::split_key_like(c.option("rng_key", random::key(0)), like))
      words.push_back(random::key_data(key));
    return like.with_values(std::move(words));
  });
  on("random_like", [=](const OptaxCall& c) {
    const bool signs = c.has("sampler");
    return trees::random_like(
        c.option("rng_key", random::key(0)), c.in("target_tree"),
        [signs](const random::Key& key, const Sizes& shape, DType d) {
          return signs ? random::rademacher(key, shape, d) : random::normal(key, shape, d);
        },
        dtype(c));
  });
  // Of the state that a rule has after one step.
  const Tree params = golden_tree(golden.cases()[0]["inputs"]["tree_x"]),
             grads = golden_tree(golden.cases()[0]["inputs"]["tree_y"]);
  const auto state = [=](const OptaxCall& c) {
    GradientTransformation tx;
    read(c.options.at("rule"), "rule", tx);
    return tx.update(grads, tx.init(params), params).second;
  };
  on("get", [=](const OptaxCall& c) {
    const std::string key = c.option("key", std::string());
    if (key == "TraceState")
      return state(c).subtree("1");  // a named tuple's name says nothing here
    const std::optional<Tree> found = trees::get(state(c), key);
    return found ? *found : one_leaf(numpy::full({}, c.option("default", 0.0), DType::f32));
  });
  on("get_all_with_path", [=](const OptaxCall& c) {
    std::vector<Tree> all;
    for (const auto& [path, values] :
         trees::get_all_with_path(state(c), c.option("key", std::string())))
      all.push_back(values.below(std::to_string(all.size())));
    return tree::merge(all);
  });
  on("set", [=](const OptaxCall& c) {
    return trees::set(state(c), "count",
                      Array::scalar(c.option("count", std::int64_t{0}), DType::i32, false));
  });
  on("map_params", [=](const OptaxCall& c) {
    return trees::map_params(params, state(c), [](const Array& x) { return 0.5 * x; });
  });
  golden.run();
}

TEST(OptaxFunctions, Microbatching) {
  namespace micro = microbatching;
  OptaxGolden golden("microbatching");
  golden.tolerance("", 1e-6);
  const auto kind = [](const OptaxCall& c) {
    const std::string name = c.option("accumulator", std::string());
    return name == "SUM"      ? micro::Accumulation::sum
           : name == "MEAN"   ? micro::Accumulation::mean
           : name == "CONCAT" ? micro::Accumulation::concat
                              : micro::Accumulation::running_mean;
  };
  const auto real = [](const OptaxCall& c) {
    const auto count = c.option("num_real_microbatches", std::optional<std::int64_t>());
    return count ? std::optional(Array(*count)) : std::nullopt;
  };
  const auto size = [](const OptaxCall& c) {
    return c.option("microbatch_size", std::optional<std::int64_t>());
  };
  const auto fun = [](const OptaxCall& c) {
    const std::string name = *c.options.at("fun").object<std::string>();
    return [name](const Array& params, const Array& batch) {
      const Array each = numpy::sin(numpy::matmul(batch, params));
      if (name == "per_row") return numpy::mean(each, 0);
      if (name == "per_row_sum") return numpy::sum(each);
      return each;  // per_row_all, one_row
    };
  };
  golden.on("microbatching.reshape_batch_axis", [](const OptaxCall& c) {
    return micro::reshape_batch_axis(c.in("tree"), c.option("microbatch_size", std::int64_t{1}),
                                     c.option("axis", std::int64_t{0}));
  });
  const auto of_trees = [=](const OptaxCall& c) {
    return [f = fun(c)](const std::vector<Tree>& a) {
      return one_leaf(f(a[0].value(0), a[1].value(0)));
    };
  };
  golden.on("microbatching.microbatch", [=](const OptaxCall& c) {
    return micro::microbatch(of_trees(c), {1}, size(c),
                             {.accumulator = kind(c), .num_real_microbatches = real(c)})(
        {c.in("params"), c.in("batch")});
  });
  golden.on("microbatching.micro_vmap", [=](const OptaxCall& c) {
    return micro::micro_vmap(of_trees(c), {1}, size(c),
                             {.accumulator = kind(c), .num_real_microbatches = real(c)})(
        {c.in("params"), c.in("batch")});
  });
  golden.on("microbatching.micro_grad", [=](const OptaxCall& c) {
    const auto loss = [f = fun(c)](const Tree& p, const Tree& b) {
      return f(p.value(0), b.value(0));
    };
    const micro::MicroGrads out = micro::micro_grad(
        loss,
        {.microbatch_size = size(c), .accumulator = kind(c), .num_real_microbatches = real(c)})(
        c.in("params"), c.in("batch"));
    return tree::merge({out.grads.below("0"), Tree({{"1/values", out.values}})});
  });
  golden.also_shows("optax.microbatching.AccumulationType");
  golden.run();
}

TEST(OptaxFunctions, AnAccumulatorOfOnesOwnJoinsParts) {
  namespace micro = microbatching;
  testing::shows_names("optax.microbatching.Accumulator");
  const micro::Accumulator greatest{[](const Array& like) { return numpy::full_like(like, -1e30); },
                                    [](const Array& carry, const Array& value, const Array&) {
                                      return numpy::maximum(carry, value);
                                    },
                                    [](const Array& carry) { return 2.0 * carry; },
                                    [](const Array& rows) { return numpy::max(rows, 0); }};
  const auto squares = [](const std::vector<Tree>& a) {
    return Tree(
        {{"y", numpy::max(a[0].value(0) * a[0].value(0), 0)}, {"n", numpy::sum(a[0].value(0), 0)}});
  };
  const Tree batch({{"x", array({1.0f, -5.0f, 2.0f, 3.0f})}});
  const Tree out = micro::microbatch(squares, {0}, 2, {.by_path = {{"y", greatest}}})({batch});
  EXPECT_EQ(out["y"].item<float>(), 50.0f);
  EXPECT_EQ(out["n"].item<float>(), 1.0f);
  const auto row = [](const std::vector<Tree>& a) {
    return trees::map([](const Array& x) { return x * x; }, a[0]);
  };
  EXPECT_EQ(micro::micro_vmap(row, {0}, 2, {.accumulator = greatest})({batch})["x"].item<float>(),
            50.0f);
  micro::Accumulator without = greatest;
  without.aggregate = nullptr;
  EXPECT_THAT(testing::message_of(
                  [&] { micro::micro_vmap(row, {0}, 2, {.accumulator = without})({batch}); }),
              ::testing::HasSubstr("the accumulator of x says not how rows are joined"));
}

}  // namespace
}  // namespace strata::optim
