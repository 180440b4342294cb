#include "strata/model/remat_policy.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "strata/base/check.h"
#include "strata/base/error.h"

namespace strata::model {
namespace {

constexpr std::string_view kNames = "names:";

constexpr RematPolicy kPolicies[] = {
    {"full_save", std::nullopt},
    {"minimal_with_context",
     "names:query_proj,key_proj,value_proj,qkv_proj,context,out_proj,mlpwi_0,mlpwi_1,mlpwi,mlpwo"},
    {"minimal",
     "names:query_proj,key_proj,value_proj,qkv_proj,out_proj,mlpwi_0,mlpwi_1,mlpwi,mlpwo"},
    {"save_dot_except_mlpwi", "names:query_proj,key_proj,value_proj,qkv_proj,out_proj,mlpwo"},
    {"save_dot_with_context_except_mlp",
     "names:query_proj,key_proj,value_proj,qkv_proj,context,out_proj"},
    {"save_dot_except_mlp", "names:query_proj,key_proj,value_proj,qkv_proj,out_proj"},
    {"save_qkv_proj", "names:query_proj,key_proj,value_proj,qkv_proj"},
    {"save_out_proj", "names:out_proj"},
    {"full", "nothing"},
};

constexpr std::string_view kTensors[] = {
    "query_proj",  "key_proj",    "value_proj",    "qkv_proj",     "context",
    "out_proj",    "mlpwi_0",     "mlpwi_1",       "mlpwi",        "mlpwo",
    "mla_q",       "mla_kv",      "query_wa_proj", "kv_wa_proj",   "attention_out",
    "moe_mlpwi_0", "moe_mlpwi_1", "moe_mlpwo",     "moe_x_sorted", "moe_routing_maps"};

const RematPolicy* find(std::string_view policy) {
  const auto* found = std::find_if(std::begin(kPolicies), std::end(kPolicies),
                                   [&](const RematPolicy& p) { return p.name == policy; });
  return found == std::end(kPolicies) ? nullptr : found;
}

/// The parts of "a,b", empty ones among them.
std::vector<std::string_view> parts(std::string_view list) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    out.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

}  // namespace

std::span<const RematPolicy> remat_policies() { return kPolicies; }

std::span<const std::string_view> remat_tensors() { return kTensors; }

std::optional<std::string> remat_of(std::string_view policy) {
  if (policy.starts_with(kNames)) return std::string(policy);
  const RematPolicy* p = find(policy);
  STRATA_CHECK(p != nullptr, "remat_policy={} was not checked", policy);
  return p->keeps ? std::optional<std::string>(*p->keeps) : std::nullopt;
}

void check_remat_policy(std::string_view who, std::string_view policy) {
  if (find(policy) != nullptr) return;
  if (!policy.starts_with(kNames)) {
    std::vector<std::string_view> names;
    for (const RematPolicy& p : kPolicies) names.push_back(p.name);
    throw Error(std::string(who), "remat_policy={}: allowed is {} or names:TENSOR,TENSOR", policy,
                fmt::join(names, ", "));
  }
  for (const std::string_view tensor : parts(policy.substr(kNames.size())))
    if (std::find(std::begin(kTensors), std::end(kTensors), tensor) == std::end(kTensors))
      throw Error(std::string(who), "remat_policy={}: a layer has no tensor '{}'; there are {}",
                  policy, tensor, fmt::join(kTensors, ", "));
}

bool is_by_name(std::string_view policy) {
  const std::optional<std::string> keeps = remat_of(policy);
  return keeps && keeps->starts_with(kNames);
}

}  // namespace strata::model
