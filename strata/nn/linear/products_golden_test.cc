// Products beside Flax's: Linear, LinearGeneral, Einsum, Conv, ConvTranspose, Embed, LoRA.
#include "strata/nn/conv/conv_transpose.h"
#include "strata/nn/linear/einsum.h"
#include "strata/nn/linear/embed.h"
#include "strata/nn/linear/linear_general.h"
#include "strata/nn/linear/lora.h"
#include "strata/nn/nnx_golden.h"

namespace strata::nn {
namespace {

std::vector<std::int64_t> ints(const json& value) {
  if (value.is_number()) return {value.get<std::int64_t>()};
  return value.get<std::vector<std::int64_t>>();
}
/// The options that all products have.
template <class Options>
void read_common(const json& args, Options& o) {
  if (args.contains("dtype")) o.product.dtype = golden_dtype(args["dtype"]);
  if (args.contains("param_dtype")) o.param_dtype = golden_dtype(args["param_dtype"]);
  if (args.contains("preferred_element_type"))
    o.product.preferred_element_type = golden_dtype(args["preferred_element_type"]);
}
LinearOptions linear_options(const json& args) {
  LinearOptions o;
  read_common(args, o);
  o.use_bias = args.value("use_bias", true);
  if (args.contains("kernel_init")) o.kernel_init = golden_initializer(args["kernel_init"]);
  if (args.contains("bias_init")) o.bias_init = golden_initializer(args["bias_init"]);
  return o;
}
Padding padding(const json& described) {
  if (described.is_string()) return described.get<std::string>();
  if (described.is_number()) return described.get<std::int64_t>();
  if (described[0].is_number()) return Padding(described.get<std::vector<std::int64_t>>());
  return Padding(described.get<Padding::Pairs>());
}
template <class Options>
void read_convolution(const json& args, Options& o) {
  read_common(args, o);
  o.use_bias = args.value("use_bias", true);
  if (args.contains("strides")) o.strides = ints(args["strides"]);
  if (args.contains("kernel_dilation")) o.kernel_dilation = ints(args["kernel_dilation"]);
  if (args.contains("padding")) o.padding = padding(args["padding"]);
  if (args.contains("mask")) o.mask = golden_array(args["mask"]);
}
template <class L>
Array on_first(L& layer, const NnxCall& call) {
  return layer(call.inputs[0]);
}

void register_affine(NnxGolden& golden) {
  golden.on<Linear>(
      "Linear",
      [](const json& args, Rngs& rngs) {
        return Linear(args["in_features"], args["out_features"], rngs, linear_options(args));
      },
      on_first<Linear>);
  golden.on<LinearGeneral>(
      "LinearGeneral",
      [](const json& args, Rngs& rngs) {
        LinearGeneralOptions o;
        read_common(args, o);
        o.use_bias = args.value("use_bias", true);
        if (args.contains("axis")) o.axis = ints(args["axis"]);
        std::vector<std::int64_t> batch;
        if (args.contains("batch_axis"))
          for (const auto& [axis, size] : args["batch_axis"].items()) batch.push_back(size);
        o.batch_sizes = batch;
        return LinearGeneral(ints(args["in_features"]), ints(args["out_features"]), rngs, o);
      },
      on_first<LinearGeneral>);
  golden.on<Einsum>(
      "Einsum",
      [](const json& args, Rngs& rngs) {
        EinsumOptions o;
        read_common(args, o);
        if (args.contains("bias_shape")) o.bias_shape = ints(args["bias_shape"]);
        return Einsum(args["einsum_str"], ints(args["kernel_shape"]), rngs, o);
      },
      [](Einsum& l, const NnxCall& call) {
        return call.has("einsum_str")
                   ? l(call.inputs[0], call.kwargs["einsum_str"].get<std::string>())
                   : l(call.inputs[0]);
      });
}

void register_convolutions(NnxGolden& golden) {
  golden.on<Conv>(
      "Conv",
      [](const json& args, Rngs& rngs) {
        ConvOptions o;
        read_convolution(args, o);
        if (args.contains("input_dilation")) o.input_dilation = ints(args["input_dilation"]);
        o.feature_group_count = args.value("feature_group_count", 1);
        return Conv(args["in_features"], args["out_features"], ints(args["kernel_size"]), rngs, o);
      },
      on_first<Conv>);
  golden.on<ConvTranspose>(
      "ConvTranspose",
      [](const json& args, Rngs& rngs) {
        ConvTransposeOptions o;
        read_convolution(args, o);
        o.transpose_kernel = args.value("transpose_kernel", false);
        return ConvTranspose(args["in_features"], args["out_features"], ints(args["kernel_size"]),
                             rngs, o);
      },
      on_first<ConvTranspose>);
}

/// With or without a layer below it.
using AnyLoRA = std::variant<LoRA<>, LoRA<Linear>>;

void register_others(NnxGolden& golden) {
  golden.on<Embed>(
      "Embed",
      [](const json& args, Rngs& rngs) {
        EmbedOptions o;
        if (args.contains("dtype")) o.dtype = golden_dtype(args["dtype"]);
        if (args.contains("param_dtype")) o.param_dtype = golden_dtype(args["param_dtype"]);
        return Embed(args["num_embeddings"], args["features"], rngs, o);
      },
      [](Embed& l, const NnxCall& call) {
        return call.method == "attend" ? l.attend(call.inputs[0]) : l(call.inputs[0]);
      });
  golden.on<AnyLoRA>(
      "LoRA",
      [](const json& args, Rngs& rngs) -> AnyLoRA {
        LoRAOptions o;
        read_common(args, o);
        const std::int64_t in = args["in_features"], rank = args["lora_rank"],
                           out = args["out_features"];
        if (!args.contains("base_module")) return LoRA<>(in, rank, out, rngs, o);
        const json& base = args["base_module"]["args"];
        Linear linear(base["in_features"], base["out_features"], rngs, linear_options(base));
        return LoRA<Linear>(in, rank, out, std::move(linear), rngs, o);
      },
      [](AnyLoRA& l, const NnxCall& call) {
        return std::visit([&](auto& lora) { return lora(call.inputs[0]); }, l);
      });
  golden.on<LoRALinear>(
      "LoRALinear",
      [](const json& args, Rngs& rngs) {
        return LoRALinear(args["in_features"], args["out_features"], args["lora_rank"], rngs,
                          {.linear = linear_options(args)});
      },
      on_first<LoRALinear>);
}

TEST(NnxProducts, AreFlaxs) {
  NnxGolden golden("products");
  register_affine(golden);
  register_convolutions(golden);
  register_others(golden);
  golden.run();
}

}  // namespace
}  // namespace strata::nn
