#include "strata/model/convert/adapter.h"

#include <algorithm>
#include <map>

#include "strata/api/index.h"
#include "strata/model/convert/pairs.h"
#include "strata/model/convert/planned.h"
#include "strata/model/decoder/model.h"
#include "strata/model/decoder/weights.h"
#include "strata/model/lora/peft.h"

namespace strata::model::conversion {

namespace {

/// Weights that have paths and no values.
tree::Tree without_values(const decoder::Options& options) {
  return tree::of(
      decoder::make_weights(options, [](std::string_view, const std::vector<std::int64_t>&,
                                        decoder::WeightKind) { return Array(); }));
}

/// Updates by the published names of tensors, and how often each was added.
std::map<std::string, std::shared_ptr<Update>> updates_of(const lora::Adapted& adapted,
                                                          const Described& model, bool to_gguf) {
  const decoder::Options& o = *decoder::options_of(*adapted.model);
  std::map<std::string, std::shared_ptr<Update>> out;
  const auto modules = lora::modules_of(o);
  for (const lora::Module& m : modules) {
    const auto adapter = o.adapters.find(m.path);
    if (adapter == o.adapters.end()) continue;
    const auto name =
        std::find_if(model.names.weights.begin(), model.names.weights.end(),
                     [&](const published::WeightName& n) { return n.path == m.path + "/kernel"; });
    const std::vector<float> a = adapted.params[m.path + "/lora/a"].to_vector<float>();
    const std::vector<float> b = adapted.params[m.path + "/lora/b"].to_vector<float>();
    const std::int64_t rank = adapter->second.rank, of_a = m.in * rank, of_b = rank * m.out;
    const std::int64_t layers = static_cast<std::int64_t>(a.size()) / of_a;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      auto& update = out[published::numbered(to_gguf ? name->gguf : name->hugging_face, layer)];
      if (!update) update = std::make_shared<Update>();
      update->rows_are_inputs = name->as_ours && !to_gguf;
      update->paired_heads = to_gguf ? name->paired_heads : 0;
      update->parts.push_back({.begin = m.begin,
                               .in = m.in,
                               .out = m.out,
                               .rank = rank,
                               .a = {a.begin() + layer * of_a, a.begin() + (layer + 1) * of_a},
                               .b = {b.begin() + layer * of_b, b.begin() + (layer + 1) * of_b},
                               .scale = adapter->second.scale()});
    }
  }
  return out;
}

}  // namespace

Status add_adapter(Plan& plan, const std::string& folder, const std::string& config, bool to_gguf) {
  const Described model = described(config);
  const auto adapted =
      lora::load_peft(folder, decoder::model(model.options), without_values(model.options));
  if (!adapted) return adapted.status();
  auto updates = updates_of(*adapted, model, to_gguf);
  for (Planned& t : plan.tensors) {
    // A directory's names may have something in front.
    auto found = updates.find(t.name);
    for (auto it = updates.begin(); !to_gguf && found == updates.end() && it != updates.end(); ++it)
      for (const std::string& prefix : model.names.prefixes)
        if (t.name == prefix + it->first) found = it;
    if (found == updates.end()) continue;
    t.update = found->second;
    updates.erase(found);
  }
  if (updates.empty()) return {};
  return Status(Code::invalid, "{}: the model has no tensor {}", folder, updates.begin()->first);
}

}  // namespace strata::model::conversion
