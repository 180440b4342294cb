// Which tensors of a layer the backward pass keeps, under MaxText's names; all else it computes
// again from what enters the layer.
//
//   model::check_remat_policy("llama", "save_qkv_proj");
//   strata::remat(layer, {.policy = *model::remat_of("save_qkv_proj")});
//
// Source: https://github.com/AI-Hypercomputer/maxtext, layers/nnx_decoders.py (get_remat_policy).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace strata::model {

/// A policy and what it keeps of each layer, for people and for strata::remat.
struct RematPolicy {
  std::string_view name;
  /// strata::remat's policy; none: all is kept, nothing computed again.
  std::optional<std::string_view> keeps;
};

/// The policies that have names, from those that keep most to "full", which keeps nothing but what
/// enters a layer. Beside these a configuration may list tensors: "names:query_proj,mlpwo".
std::span<const RematPolicy> remat_policies();

/// The names that tensors of a layer have: "query_proj", "key_proj", "value_proj" (behind norms and
/// rotation), "context" and "attention_out" (what attention gives), "out_proj"; "mlpwi_0" (what is
/// activated), "mlpwi_1" (what it gates), "mlpwi" (where there is no gate), "mlpwo"; of experts the
/// same and "moe_mlpwi_0", "moe_mlpwi_1", "moe_mlpwo", "moe_x_sorted" (rows in their order),
/// "moe_routing_maps" (experts of each token); of latent attention "query_wa_proj", "kv_wa_proj"
/// (the narrow products) and "mla_q", "mla_kv" (these normed); "qkv_proj" of the gated delta rule,
/// which MaxText does not name.
std::span<const std::string_view> remat_tensors();

/// What strata::remat is told of a policy; none: all is kept. Our bug where `check_remat_policy`
/// refuses it.
std::optional<std::string> remat_of(std::string_view policy);

/// Throws Error(who, ...) for a policy or a tensor that is none.
void check_remat_policy(std::string_view who, std::string_view policy);

/// Whether a policy keeps tensors by name: nn::NamesTensors has to stand around its layers.
bool is_by_name(std::string_view policy);

}  // namespace strata::model
