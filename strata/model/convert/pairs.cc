#include "strata/model/convert/pairs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "strata/base/error.h"
#include "strata/model/decoder/weights.h"

namespace strata::model::conversion {

using published::WeightName;

namespace {

/// Whether one of our weights is in several tensors, or several layers' parts in one.
bool lie_otherwise(const published::Names& names) {
  return std::any_of(names.weights.begin(), names.weights.end(),
                     [](const WeightName& w) { return w.stacked || !w.sections.empty(); });
}

}  // namespace

const std::vector<Pair>& Described::pairs() const {
  if (lie_otherwise(names))
    throw Error("convert",
                "models of {} are not converted tensor by tensor, to GGUF or from it: their "
                "weights are cut into tensors otherwise",
                family->model_type)
        .unsupported();
  return all;
}

std::string plain_config(const std::string& config) {
  const published::Config c = published::Config::parse(config);
  if (!c.has("quantization_config") ||
      c.child("quantization_config")->text("quant_method", "") != "mxfp4")
    return config;
  auto out = nlohmann::ordered_json::parse(config);
  out.erase("quantization_config");
  return out.dump(2) + "\n";
}

Described described(const std::string& config) {
  const published::Config c = published::Config::parse(config);
  if (c.has("quantization_config"))
    throw Error("convert", "quantization_config has quant_method={}, which is not supported",
                c.child("quantization_config")->as_json("quant_method"))
        .unsupported();
  const published::Family& family = published::family(c.text("model_type"));
  Described out{&family, family.options(c), {}};
  out.names = family.names(out.options);
  if (lie_otherwise(out.names)) return out;
  // Parts of one published tensor (phi3's qkv_proj) are one pair.
  std::set<std::string> seen;
  for (const WeightName& w : out.names.weights) {
    const std::int64_t layers = std::max<std::int64_t>(decoder::layers_in(out.options, w.path), 1);
    const std::int64_t experts = std::max<std::int64_t>(w.experts, 1);
    for (std::int64_t i = 0; i < layers * experts; ++i) {
      const std::int64_t layer = published::layer_of(w, i);
      Pair p{published::numbered(w.hugging_face, layer, i % experts),
             published::numbered(w.gguf, layer),
             w.paired_heads,
             w.gguf_plus,
             w.as_ours,
             i % experts,
             w.experts};
      if (seen.insert(p.hugging_face).second) out.all.push_back(std::move(p));
    }
  }
  return out;
}

}  // namespace strata::model::conversion
