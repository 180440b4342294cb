#include "strata/model/mixtral/published.h"

#include "strata/model/published/rope_parameters.h"

namespace strata::model::published {

namespace {

decoder::Options options(const Config& c) {
  decoder::Options o = usual_options(c, "mixtral");
  o.ropes = {rope_of(c, o.head_dim, {.theta = 1e6})};
  o.experts = {.count = c.integer("num_local_experts", 8),
               .active = c.integer("num_experts_per_tok", 2),
               .width = o.mlp_width,
               .capacity = c.number("capacity_factor", 0)};
  const std::int64_t window = c.integer("sliding_window", 0);
  if (window > 0) o.windows = std::vector<std::int64_t>(static_cast<std::size_t>(o.layers), window);
  return o;
}

Names names(const decoder::Options& o) {
  Names out = usual_names(o, true);
  const std::string layer = "model.layers.{}.block_sparse_moe.";
  for (WeightName& w : out.weights) {
    if (w.path == "layers/experts/router/kernel") w.hugging_face = layer + "gate.weight";
    if (w.path == "layers/experts/gate/kernel") w.hugging_face = layer + "experts.{}.w1.weight";
    if (w.path == "layers/experts/down/kernel") w.hugging_face = layer + "experts.{}.w2.weight";
    if (w.path == "layers/experts/up/kernel") w.hugging_face = layer + "experts.{}.w3.weight";
  }
  return out;
}

std::string from_gguf(const GgufMetadata& m) {
  const auto count = architecture_value(m, "expert_count"),
             active = architecture_value(m, "expert_used_count");
  return usual_config(m, "mixtral",
                      "{\"num_local_experts\": " + count.value_or("8") +
                          ", \"num_experts_per_tok\": " + active.value_or("2") + "}");
}

}  // namespace

Family mixtral() {
  // GGUF files of Mixtral say llama, with a number of experts.
  return {"mixtral", "llama", "Mixtral: Llama whose feed-forward branches are experts",
          &options,  &names,  &from_gguf};
}

}  // namespace strata::model::published
