// Norms beside Flax's: BatchNorm, LayerNorm, RMSNorm, GroupNorm, InstanceNorm, and WeightNorm and
// SpectralNorm around other layers.
#include "strata/nn/attention/multi_head_attention.h"
#include "strata/nn/conv/conv.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/nnx_golden.h"
#include "strata/nn/norm/batch_norm.h"
#include "strata/nn/norm/group_norm.h"
#include "strata/nn/norm/instance_norm.h"
#include "strata/nn/norm/layer_norm.h"
#include "strata/nn/norm/norm.h"
#include "strata/nn/norm/spectral_norm.h"
#include "strata/nn/norm/weight_norm.h"

namespace strata::nn {
namespace {

template <class T>
void take(const json& args, const char* name, T& option) {
  if (args.contains(name) && !args[name].is_null()) option = args[name].get<T>();
}
template <class T>
void take(const json& args, const char* name, std::optional<T>& option) {
  if (args.contains(name) && !args[name].is_null()) option = args[name].get<T>();
}

/// Axes as upstream takes them: a number or a list.
Axes axes_of(const json& args) {
  if (args.is_number()) return args.get<std::int64_t>();
  return args.get<std::vector<std::int64_t>>();
}

/// What all norms of activations have.
template <class Options>
Options norm_options(const json& args) {
  Options o;
  take(args, "epsilon", o.epsilon);
  take(args, "use_scale", o.use_scale);
  take(args, "use_fast_variance", o.use_fast_variance);
  if (args.contains("dtype")) o.dtype = golden_dtype(args["dtype"]);
  if (args.contains("param_dtype")) o.param_dtype = golden_dtype(args["param_dtype"]);
  if (args.contains("scale_init")) o.scale_init = golden_initializer(args["scale_init"]);
  if constexpr (requires { o.use_bias; }) {
    take(args, "use_bias", o.use_bias);
    if (args.contains("bias_init")) o.bias_init = golden_initializer(args["bias_init"]);
  }
  if constexpr (requires { o.feature_axes; }) {
    if (args.contains("feature_axes")) o.feature_axes = axes_of(args["feature_axes"]);
  }
  if constexpr (requires { o.reduction_axes; }) {
    if (args.contains("reduction_axes")) o.reduction_axes = axes_of(args["reduction_axes"]);
  }
  return o;
}

template <class L, class Options>
void add_norm(NnxGolden& golden, const char* name) {
  golden.on<L>(
      name,
      [](const json& args, Rngs& rngs) {
        auto o = norm_options<Options>(args);
        if constexpr (std::same_as<L, GroupNorm>) {
          take(args, "num_groups", o.num_groups);
          take(args, "group_size", o.group_size);
        }
        return L(args["num_features"].get<std::int64_t>(), rngs, o);
      },
      [](L& norm, const NnxCall& call) {
        return norm(call.inputs[0],
                    {.mask = call.has("mask") ? std::optional(golden_array(call.kwargs["mask"]))
                                              : std::nullopt});
      });
}

template <template <class> class Norm>
using Around = std::variant<Norm<Linear>, Norm<Conv>, Norm<MultiHeadAttention>>;
using AnyWeightNorm = Around<WeightNorm>;
using AnySpectralNorm = Around<SpectralNorm>;

/// The inner layer, and wrap(it).
template <class Any, class Wrap>
Any around(const json& layer, Rngs& rngs, Wrap wrap) {
  const json& args = layer["args"];
  if (layer["layer"] == "Conv")
    return wrap(Conv(args["in_features"], args["out_features"],
                     args["kernel_size"].get<std::vector<std::int64_t>>(), rngs));
  if (layer["layer"] == "MultiHeadAttention")
    return wrap(MultiHeadAttention(args["num_heads"], args["in_features"], rngs,
                                   {.decode = args["decode"].get<bool>()}));
  if (layer["layer"] != "Linear") throw std::runtime_error("no inner layer " + layer.dump());
  LinearOptions o;
  if (args.contains("dtype")) o.product.dtype = golden_dtype(args["dtype"]);
  return wrap(Linear(args["in_features"], args["out_features"], rngs, o));
}

TEST(NnxNorms, AreFlaxs) {
  NnxGolden golden("norms");
  add_norm<LayerNorm, LayerNormOptions>(golden, "LayerNorm");
  add_norm<RMSNorm, RMSNormOptions>(golden, "RMSNorm");
  add_norm<GroupNorm, GroupNormOptions>(golden, "GroupNorm");
  add_norm<InstanceNorm, InstanceNormOptions>(golden, "InstanceNorm");
  golden.on<BatchNorm>(
      "BatchNorm",
      [](const json& args, Rngs& rngs) {
        auto o = norm_options<BatchNormOptions>(args);
        take(args, "axis", o.axis);
        take(args, "momentum", o.momentum);
        take(args, "use_running_average", o.use_running_average);
        return BatchNorm(args["num_features"].get<std::int64_t>(), rngs, o);
      },
      [](BatchNorm& norm, const NnxCall& call) {
        BatchNormCall o;
        take(call.kwargs, "use_running_average", o.use_running_average);
        if (call.has("mask")) o.mask = golden_array(call.kwargs["mask"]);
        return norm(call.inputs[0], o);
      });
  golden.on<AnyWeightNorm>(
      "WeightNorm",
      [](const json& args, Rngs& rngs) {
        WeightNormOptions o{.overwrite = true};
        take(args, "use_scale", o.use_scale);
        take(args, "epsilon", o.epsilon);
        if (args.contains("dtype")) o.dtype = golden_dtype(args["dtype"]);
        if (args.contains("feature_axes"))
          o.feature_axes = args["feature_axes"].is_null()
                               ? std::nullopt
                               : std::optional<Axes>(axes_of(args["feature_axes"]));
        return around<AnyWeightNorm>(args["layer_instance"], rngs, [&]<class L>(L layer) {
          return WeightNorm<L>(std::move(layer), o);
        });
      },
      [](AnyWeightNorm& norm, const NnxCall& call) {
        return std::visit([&](auto& of) { return of(call.inputs[0]); }, norm);
      });
  golden.on<AnySpectralNorm>(
      "SpectralNorm",
      [](const json& args, Rngs& rngs) {
        SpectralNormOptions o{.overwrite = true};
        take(args, "n_steps", o.n_steps);
        take(args, "epsilon", o.epsilon);
        take(args, "update_stats", o.update_stats);
        if (args.contains("dtype")) o.dtype = golden_dtype(args["dtype"]);
        return around<AnySpectralNorm>(args["layer_instance"], rngs, [&]<class L>(L layer) {
          return SpectralNorm<L>(std::move(layer), rngs, o);
        });
      },
      [](AnySpectralNorm& norm, const NnxCall& call) {
        SpectralNormCall o;
        take(call.kwargs, "update_stats", o.update_stats);
        return std::visit([&](auto& of) { return of(call.inputs[0], o); }, norm);
      });
  // E[x^2] - E[x]^2 of numbers about 1000 that are 0.25 apart: one bit of the variance is left.
  golden.allow("layer_norm_far_from_zero", {.outputs = 0.5, .gradients = 2});
  golden.run();
}

}  // namespace
}  // namespace strata::nn
