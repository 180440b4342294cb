// Attention beside Flax's: MultiHeadAttention, attend and masks.
#include "strata/api/random.h"
#include "strata/nn/attention/multi_head_attention.h"
#include "strata/nn/inspect/capture.h"
#include "strata/nn/nnx_golden.h"
#include "strata/nn/transform/jit.h"

namespace strata::nn {
namespace {

template <class T>
std::optional<T> given(const json& from, const char* name) {
  if (!from.contains(name) || from[name].is_null()) return {};
  return from[name].get<T>();
}
std::optional<Array> given_array(const json& from, const char* name) {
  if (!from.contains(name) || from[name].is_null()) return {};
  return golden_array(from[name]);
}

MultiHeadAttention make(const json& args, Rngs& rngs) {
  MultiHeadAttentionOptions o;
  o.qkv_features = given<std::int64_t>(args, "qkv_features");
  o.out_features = given<std::int64_t>(args, "out_features");
  o.num_kv_heads = given<std::int64_t>(args, "num_kv_heads");
  o.in_kv_features = given<std::int64_t>(args, "in_kv_features");
  o.deterministic = given<bool>(args, "deterministic");
  o.decode = given<bool>(args, "decode");
  o.dropout_rate = args.value("dropout_rate", 0.0);
  o.broadcast_dropout = args.value("broadcast_dropout", true);
  o.use_bias = args.value("use_bias", true);
  o.normalize_qk = args.value("normalize_qk", false);
  o.keep_rngs = args.value("keep_rngs", true);
  if (args.contains("dtype")) o.product.dtype = golden_dtype(args["dtype"]);
  if (args.contains("param_dtype")) o.param_dtype = golden_dtype(args["param_dtype"]);
  return MultiHeadAttention(args["num_heads"], args["in_features"], rngs, o);
}

std::vector<Array> call(MultiHeadAttention& layer, const NnxCall& call) {
  const json& described = *call.description;
  if (call.method == "init_cache") {
    const json& inputs = described["inputs"];
    const std::vector<std::int64_t> shape = inputs[0];
    layer.init_cache(shape, inputs.size() > 1 ? golden_dtype(inputs[1]) : DType::f32);
    return {};
  }
  Rngs lent;
  MultiHeadAttentionCall o{.mask = given_array(call.kwargs, "mask"),
                           .deterministic = given<bool>(call.kwargs, "deterministic"),
                           .decode = given<bool>(call.kwargs, "decode"),
                           .is_causal = call.kwargs.value("is_causal", false)};
  if (call.has("rngs")) {
    lent = golden_rngs(call.kwargs["rngs"]["rngs"]);
    o.rngs = lent;
  }
  o.sow_weights = call.kwargs.value("sow_weights", false);
  const std::vector<Array>& x = call.inputs;
  Array y;
  if (described.contains("captured")) {
    const auto [out, seen] =
        nn::capture<Intermediate>([&](const Array& q) { return layer(q, o); })(x[0]);
    const tree::Tree want = golden_tree(described["captured"]);
    EXPECT_EQ(seen.names(), want.names());
    for (const std::string& name : want.names())
      EXPECT_LT(numpy::max(numpy::abs(seen[name] - want[name])).item<double>(), 1e-6) << name;
    return {out};
  }
  if (layer.cache_index && !layer.cache_index->is_traced() &&
      layer.cache_index->item<std::int64_t>() >= layer.cached_key->shape(-3)) {
    // Past its end upstream goes on, and so does a program, in which the index is traced.
    y = nn::jit([&](MultiHeadAttention& m, const Array& q) { return m(q, o); })(layer, x[0]);
  } else {
    y = x.size() == 1   ? layer(x[0], o)
        : x.size() == 2 ? layer(x[0], x[1], o)
                        : layer(x[0], x[1], x[2], o);
  }
  return {y};
}

std::vector<Array> attend_as(const NnxCall& call) {
  AttendOptions o{.bias = given_array(call.kwargs, "bias"),
                  .mask = given_array(call.kwargs, "mask"),
                  .is_causal = call.kwargs.value("is_causal", false),
                  .dropout_rate = call.kwargs.value("dropout_rate", 0.0),
                  .broadcast_dropout = call.kwargs.value("broadcast_dropout", true),
                  .deterministic = call.kwargs.value("deterministic", false)};
  if (call.has("dtype")) o.dtype = golden_dtype(call.kwargs["dtype"]);
  if (call.has("dropout_rng"))
    o.dropout_rng = random::key(Array(call.kwargs["dropout_rng"]["key"].get<std::int64_t>()));
  return {attend(call.inputs[0], call.inputs[1], call.inputs[2], o)};
}

AttentionMaskOptions mask_options(const NnxCall& call) {
  AttentionMaskOptions o{.extra_batch_dims = call.kwargs.value("extra_batch_dims", 0)};
  if (call.has("dtype")) o.dtype = golden_dtype(call.kwargs["dtype"]);
  return o;
}

TEST(NnxAttention, IsFlaxs) {
  NnxGolden golden("attention");
  golden.on<MultiHeadAttention>("MultiHeadAttention", make, call);
  golden.on_function("dot_product_attention", attend_as);
  golden.on_function("make_attention_mask", [](const NnxCall& call) -> std::vector<Array> {
    return {make_attention_mask(call.inputs[0], call.inputs[1], mask_options(call))};
  });
  golden.on_function("make_causal_mask", [](const NnxCall& call) -> std::vector<Array> {
    return {make_causal_mask(call.inputs[0], mask_options(call))};
  });
  golden.on_function("combine_masks", [](const NnxCall& call) -> std::vector<Array> {
    std::vector<std::optional<Array>> masks;
    for (const json& mask : (*call.description)["inputs"])
      masks.push_back(mask.is_null() ? std::optional<Array>() : golden_array(mask));
    const std::optional<Array> out = combine_masks(masks, mask_options(call).dtype);
    return out ? std::vector<Array>{*out} : std::vector<Array>();
  });
  golden.run();
}

}  // namespace
}  // namespace strata::nn
