// First values of every layer beside Flax's: paths, kinds, values, and the streams behind.
#include <gtest/gtest.h>

#include <cmath>

#include "strata/nn/conv/conv_transpose.h"
#include "strata/nn/golden_models.h"
#include "strata/nn/linear/einsum.h"
#include "strata/nn/linear/embed.h"
#include "strata/nn/linear/prelu.h"
#include "strata/nn/nnx_golden.h"
#include "strata/nn/norm/group_norm.h"
#include "strata/nn/norm/instance_norm.h"
#include "strata/nn/norm/norm.h"
#include "strata/nn/norm/weight_norm.h"
#include "strata/nn/recurrent/lstm.h"
#include "strata/nn/recurrent/rnn.h"
#include "strata/nn/recurrent/simple_cell.h"

namespace strata::nn {
namespace {

using Make = std::function<tree::Tree(const json& args, Rngs& rngs)>;

std::int64_t number(const json& args, const char* name) { return args[name]; }
std::vector<std::int64_t> ints(const json& value) {
  if (value.is_number()) return {value.get<std::int64_t>()};
  return value.get<std::vector<std::int64_t>>();
}
Linear inner_linear(const json& layer, Rngs& rngs) {
  EXPECT_EQ(layer["layer"], "Linear");
  return Linear(layer["args"]["in_features"], layer["args"]["out_features"], rngs);
}

template <class Norm, class Options>
Make norm() {
  return [](const json& args, Rngs& rngs) {
    Options o;
    if constexpr (requires { o.use_bias; }) o.use_bias = args.value("use_bias", true);
    if constexpr (requires { o.num_groups; })
      if (args.contains("num_groups")) o.num_groups = args["num_groups"].get<std::int64_t>();
    return tree::of(Norm(number(args, "num_features"), rngs, o));
  };
}
template <class Cell>
Make cell() {
  return [](const json& args, Rngs& rngs) {
    const auto make = [&] {
      return tree::of(Cell(number(args, "in_features"), number(args, "hidden_features"), rngs));
    };
    if (!args.value("keep_rngs", false)) return make();
    // Upstream's cell keeps a stream for its carries; here who calls it does, and forks it before.
    const RngStream kept = rngs["carry"].fork();
    return tree::merge({make(), tree::of(kept).below("rngs")});
  };
}
template <class Cell>
tree::Tree rnn(const json& layer, Rngs& rngs, bool given) {
  Cell inner(number(layer["args"], "in_features"), number(layer["args"], "hidden_features"), rngs);
  return given ? tree::of(RNN<Cell>(std::move(inner), rngs))
               : tree::of(RNN<Cell>(std::move(inner)));
}
tree::Tree convolution(const json& args, Rngs& rngs) {
  ConvOptions o;
  o.use_bias = args.value("use_bias", true);
  o.feature_group_count = args.value("feature_group_count", 1);
  return tree::of(
      Conv(args["in_features"], args["out_features"], ints(args["kernel_size"]), rngs, o));
}
tree::Tree transposed(const json& args, Rngs& rngs) {
  ConvTransposeOptions o;
  o.use_bias = args.value("use_bias", true);
  o.transpose_kernel = args.value("transpose_kernel", false);
  return tree::of(
      ConvTranspose(args["in_features"], args["out_features"], ints(args["kernel_size"]), rngs, o));
}
tree::Tree general(const json& args, Rngs& rngs) {
  LinearGeneralOptions o{.use_bias = args.value("use_bias", true)};
  if (args.contains("axis")) o.axis = Sizes(ints(args["axis"]));
  std::vector<std::int64_t> batch;
  const json given = args.value("batch_axis", json::object());
  for (const auto& [axis, size] : given.items()) batch.push_back(size);
  o.batch_sizes = Sizes(batch);
  return tree::of(LinearGeneral(ints(args["in_features"]), ints(args["out_features"]), rngs, o));
}
tree::Tree einsum_layer(const json& args, Rngs& rngs) {
  EinsumOptions o;
  if (args.contains("bias_shape")) o.bias_shape = Sizes(ints(args["bias_shape"]));
  return tree::of(
      Einsum(args["einsum_str"].get<std::string>(), ints(args["kernel_shape"]), rngs, o));
}
tree::Tree attention(const json& args, Rngs& rngs) {
  MultiHeadAttentionOptions o;
  const auto take = [&](const char* name, std::optional<std::int64_t>& option) {
    if (args.contains(name)) option = args[name].get<std::int64_t>();
  };
  take("num_kv_heads", o.num_kv_heads);
  take("in_kv_features", o.in_kv_features);
  take("qkv_features", o.qkv_features);
  take("out_features", o.out_features);
  o.use_bias = args.value("use_bias", true);
  o.normalize_qk = args.value("normalize_qk", false);
  o.dropout_rate = args.value("dropout_rate", 0.0);
  o.keep_rngs = args.value("keep_rngs", true);
  return tree::of(MultiHeadAttention(args["num_heads"], args["in_features"], rngs, o));
}

std::map<std::string, Make> layers() {
  return {
      {"Linear",
       [](const json& args, Rngs& rngs) {
         return tree::of(Linear(args["in_features"], args["out_features"], rngs,
                                {.use_bias = args.value("use_bias", true)}));
       }},
      {"LinearGeneral", general},
      {"Einsum", einsum_layer},
      {"Conv", convolution},
      {"ConvTranspose", transposed},
      {"Embed",
       [](const json& args, Rngs& rngs) {
         return tree::of(Embed(args["num_embeddings"], args["features"], rngs));
       }},
      {"LoRA",
       [](const json& args, Rngs& rngs) {
         Linear base = inner_linear(args["base_module"], rngs);
         return tree::of(LoRA<Linear>(args["in_features"], args["lora_rank"], args["out_features"],
                                      std::move(base), rngs));
       }},
      {"LoRALinear",
       [](const json& args, Rngs& rngs) {
         return tree::of(
             LoRALinear(args["in_features"], args["out_features"], args["lora_rank"], rngs));
       }},
      {"BatchNorm", norm<BatchNorm, BatchNormOptions>()},
      {"LayerNorm", norm<LayerNorm, LayerNormOptions>()},
      {"RMSNorm", norm<RMSNorm, RMSNormOptions>()},
      {"GroupNorm", norm<GroupNorm, GroupNormOptions>()},
      {"InstanceNorm", norm<InstanceNorm, InstanceNormOptions>()},
      {"WeightNorm",
       [](const json& args, Rngs& rngs) {
         Linear inner = inner_linear(args["layer_instance"], rngs);
         return tree::of(WeightNorm<Linear>(std::move(inner), rngs));
       }},
      {"SpectralNorm",
       [](const json& args, Rngs& rngs) {
         Linear inner = inner_linear(args["layer_instance"], rngs);
         return tree::of(SpectralNorm<Linear>(std::move(inner), rngs));
       }},
      {"LSTMCell", cell<LSTMCell>()},
      {"OptimizedLSTMCell", cell<OptimizedLSTMCell>()},
      {"GRUCell", cell<GRUCell>()},
      {"SimpleCell", cell<SimpleCell>()},
      {"RNN",
       [](const json& args, Rngs& rngs) {
         const bool given = args.contains("rngs");
         return args["cell"]["layer"] == "GRUCell" ? rnn<GRUCell>(args["cell"], rngs, given)
                                                   : rnn<SimpleCell>(args["cell"], rngs, given);
       }},
      {"MultiHeadAttention", attention},
      {"Dropout", [](const json& args,
                     Rngs& rngs) { return tree::of(Dropout(args["rate"].get<double>(), rngs)); }},
      {"PReLU", [](const json&, Rngs&) { return tree::of(PReLU()); }},
      {"Sequential", {}},  // of the others, below
  };
}

/// Distance of elements in units of the last place of the largest one. Truncated normal numbers are
/// within 4 of the distribution's largest, which is up to twice that of a small sample.
double distance(const Array& got, const Array& want) {
  const std::vector<double> a = got.to_vector<double>(), b = want.to_vector<double>();
  double largest = 0, worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(b[i]));
    worst = std::max(worst, std::abs(a[i] - b[i]));
  }
  return worst == 0 ? 0 : worst / std::ldexp(1.0, std::ilogb(largest) - 23);
}

TEST(NnxInitial, ValuesAreFlaxs) {
  NnxGolden golden("initial");
  std::map<std::string, Make> makers = layers();
  makers["Sequential"] = [&](const json& args, Rngs& rngs) {
    tree::Tree all;
    std::size_t i = 0;
    for (const json& layer : args["layers"])
      all = tree::merge(
          {all,
           makers.at(layer["layer"])(layer["args"], rngs).below(fmt::format("layers/{}", i++))});
    return all;
  };
  for (const json& c : golden.cases()) {
    SCOPED_TRACE(c["name"].get<std::string>());
    Rngs rngs = golden_rngs(c["rngs"]);
    const tree::Tree made = makers.at(c["layer"])(c["args"], rngs);
    EXPECT_EQ(made.size(), c["init"].size());
    for (const auto& [path, leaf] : c["init"].items()) {
      ASSERT_TRUE(made.contains(path)) << path;
      const Array want = golden_array(leaf);
      ASSERT_EQ(made[path].type(), want.type()) << path;
      const std::string kind = leaf["kind"];
      EXPECT_EQ(made.entry(*made.find(path)).kind->name(), kind == "array" ? "Variable" : kind);
      if (!is_float(want.dtype())) {
        EXPECT_TRUE(made[path].literal().same_bits(want.literal())) << path;
        continue;
      }
      // Orthogonal matrices are what is left of a decomposition, whose sums have another order.
      const std::string layer = c["layer"];
      const bool orthogonal =
          path.ends_with("kernel") && (path.find("dense_h") != std::string::npos ||
                                       (layer == "LSTMCell" && path.starts_with('h')));
      EXPECT_LE(distance(made[path], want), orthogonal ? 100 : 8) << path;
    }
    for (const auto& [name, stream] : c["rngs_after"].items()) {
      ASSERT_TRUE(rngs.contains(name));
      expect_near(rngs[name].key, stream["key"], {}, "key of " + name);
      expect_near(rngs[name].count, stream["count"], {}, "count of " + name);
    }
  }
}

}  // namespace
}  // namespace strata::nn
