#include "strata/train/maxtext/optimizer_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "strata/model/maxtext/weights.h"
#include "strata/model/published/family.h"
#include "strata/tokenizer/pattern.h"
#include "strata/train/maxtext/keys.h"
#include "strata/train/maxtext/models.h"

namespace strata::train::maxtext {
namespace {

using Json = nlohmann::ordered_json;
using Texts = std::vector<std::string>;

/// A weight's path here, and the arrays of MaxText's that hold its layers, layer by layer, as
/// `scan_layers` has them.
struct Weight {
  std::string path;
  Texts stored;
};

/// Of the model that the keys describe. `key` is what asks for them.
std::vector<Weight> weights_of(const Resolved& resolved, const Keys& k, const char* key) {
  const auto described = model::published::Config::parse(model_config(resolved));
  const auto options = model::published::family(described.text("model_type")).options(described);
  const model::maxtext::Layout layout{.scanned = k.on("scan_layers"),
                                      .scan_axis = k.whole("param_scan_axis"),
                                      .cycle = k.whole("inhomogeneous_layer_cycle_interval")};
  std::vector<Weight> out;
  try {
    for (auto& [path, stored] : model::maxtext::stored_names(options, layout))
      out.push_back({path, std::move(stored)});
  } catch (const Error& e) {
    not_yet(key, k, e.message());
  }
  return out;
}

// -- Masks -------------------------------------------------------------------------------------

/// Whether re.search finds the expression in a text that is not empty.
std::function<bool(const std::string&)> search(const std::string& expression, const char* key,
                                               const Keys& k) {
  if (const auto alone = tokenizer::Pattern::regex(expression); !alone)
    throw ConfigError(fmt::format("{}: {}", shown(key, k[key]), alone.status().message()));
  // The whole text matches where some part of it does, an empty one too.
  const auto pattern = tokenizer::Pattern::regex("(?s:.*?)(?:" + expression + ")(?s:.*)");
  if (!pattern)
    throw ConfigError(fmt::format("{}: {}", shown(key, k[key]), pattern.status().message()));
  return [pattern = *pattern](const std::string& text) {
    const auto matches = pattern.matches(text);
    return !matches.empty() && matches.front().matched;
  };
}

/// The paths of the weights in whose names in MaxText's tree of parameters an expression is found.
/// As a state begins, MaxText's names have "/value" behind them; its steps, which decide what a
/// mask does, have not.
Texts paths_of(const Resolved& resolved, const Keys& k, const char* key) {
  std::vector<std::function<bool(const std::string&)>> found;
  for (const Value& expression : *k[key].list()) found.push_back(search(str(expression), key, k));
  const auto is_meant = [&](const std::string& stored) {
    return std::any_of(found.begin(), found.end(), [&](const auto& f) { return f(stored); });
  };
  const bool takes_layers = std::string_view(key) == "trainable_parameters_mask";
  Texts out;
  for (const Weight& w : weights_of(resolved, k, key)) {
    std::vector<std::size_t> layers;
    for (std::size_t i = 0; i < w.stored.size(); ++i)
      if (is_meant(w.stored[i])) layers.push_back(i);
    if (layers.empty()) continue;
    const bool whole = layers.size() == w.stored.size();
    const std::string list = fmt::format("{}", fmt::join(layers, ","));
    require(whole || takes_layers, key, k,
            fmt::format("it means layers {} of {} alone, whose {} are one array here", list, w.path,
                        w.stored.size()));
    out.push_back(whole ? w.path : w.path + ":" + list);
  }
  return out;
}

bool is_given(const Keys& k, const char* key) {
  return k[key].list() != nullptr && !k[key].list()->empty();
}

/// Its weights as a pattern each.
void add_mask(const Resolved& resolved, const Keys& k, const char* key, Texts& out) {
  if (!is_given(k, key)) return;
  const Texts paths = paths_of(resolved, k, key);
  if (!paths.empty()) out.push_back(fmt::format("{}={}", key, fmt::join(paths, ";")));
  require(!paths.empty() || std::string_view(key) != "trainable_parameters_mask", key, k,
          "it means no weight, so that nothing is left to train");
}

// -- Muon --------------------------------------------------------------------------------------

/// The segments of a path.
Texts segments_of(const std::string& name) {
  Texts out(1);
  for (const char c : name) {
    if (c == '/')
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

bool has_any(const Texts& path, std::initializer_list<std::string_view> names) {
  return std::any_of(path.begin(), path.end(), [&](const std::string& segment) {
    return std::find(names.begin(), names.end(), segment) != names.end();
  });
}

/// Whether MaxText steps an array by muon, and not by AdamW: which of its axes are rows and columns
/// then are those of the weight's last two here, as MaxText takes heads together. Source:
/// utils/muon_utils.py (transform_logic).
bool is_matrix(const std::string& name, bool include_routers) {
  const Texts path = segments_of(name);
  for (const std::string& segment : path) {
    if (segment.ends_with("bias")) return false;
    for (const char* part :
         {"scale", "embedding", "logits_dense", "sinks", "A_log", "conv1d", "shared_expert_gate"})
      if (segment.find(part) != segment.npos) return false;
  }
  const bool is_router =
      has_any(path, {"MoeBlock_0", "moe_block", "routed_experts", "GptOssMlp", "routed_moe"}) &&
      !has_any(path, {"shared_experts", "shared_expert"}) && has_any(path, {"gate", "router"});
  return !is_router || include_routers;
}

/// Options of muon; other weights are AdamW's.
void add_muon(const Resolved& resolved, const Keys& k, Texts& out) {
  const auto option = [&](const char* name, const char* key) {
    if (!k[key].is_none()) out.push_back(fmt::format("optimizer.{}={}", name, k.text(key)));
  };
  option("beta", "muon_beta");
  option("weight_decay", "muon_weight_decay");
  option("consistent_rms", "muon_consistent_rms");
  option("eps", "adam_eps");
  option("adam_b1", "adam_b1");
  option("adam_b2", "adam_b2");
  option("adam_eps_root", "adam_eps_root");
  option("adam_weight_decay", "adam_weight_decay");
  const bool routers = k.on("muon_include_routers") || k.text("muon_type").starts_with("maxtext");
  Json matrices = Json::array();
  for (const Weight& w : weights_of(resolved, k, "opt_type"))
    if (is_matrix(w.stored.front(), routers)) matrices.push_back(w.path);
  const Json row = {{"match", matrices}, {"reduction_axis", {-2}}, {"output_axis", {-1}}};
  out.push_back("optimizer.muon_weight_dimension_numbers=" + Json::array({row}).dump());
}

}  // namespace

Texts optimizer_keys(const Resolved& resolved) {
  const Keys k(resolved);
  Texts out;
  const std::string rule = k.text("opt_type");
  if (rule == "adamw" || rule == "adam_pax") add_mask(resolved, k, "adamw_mask", out);
  if (rule == "muon") add_muon(resolved, k, out);
  if (rule == "adamw" || rule == "muon") out.push_back("mu_dtype=" + k.text("mu_dtype"));
  add_mask(resolved, k, "trainable_parameters_mask", out);
  return out;
}

}  // namespace strata::train::maxtext
