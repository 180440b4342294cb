#include "strata/model/lora/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "strata/base/error.h"
#include "strata/model/decoder/weights.h"
#include "strata/model/published/family.h"
#include "strata/tokenizer/pattern.h"

namespace strata::model::lora {

using decoder::Options;
using decoder::WeightKind;

namespace {

constexpr std::string_view kAllLinear = "all-linear";

/// The last part of a published name, with the one before it where that tells more.
std::string short_name(const std::string& published) {
  return published.substr(published.rfind('.') + 1);
}

std::string short_names(const std::vector<Module>& modules) {
  std::set<std::string> out;
  for (const Module& m : modules) out.insert(short_name(m.published));
  return fmt::format("{}", fmt::join(out, ", "));
}

bool is_name(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-' || c == '.';
  });
}

/// What one target means.
class Target {
 public:
  explicit Target(const std::string& text) : text_(text) {
    if (text == kAllLinear || is_name(text)) return;
    auto pattern = tokenizer::Pattern::slow_regex("\\A(?:" + text + ")\\z");
    if (!pattern)
      throw Error("lora",
                  "target_modules={}: it is neither the end of a name nor a regular "
                  "expression: {}",
                  text, pattern.status().message());
    pattern_ = std::move(*pattern);
  }

  bool means(const Module& m, std::int64_t layer) const {
    if (text_ == kAllLinear) return m.path != "logits";
    const std::string name = published::numbered(m.published, layer);
    if (!pattern_) return ends_in(name, text_);
    return matches(name) || matches(m.path);
  }

 private:
  bool matches(const std::string& name) const {
    const auto found = pattern_->matches(name);
    return found.size() == 1 && found[0].matched;
  }
  std::string text_;
  std::optional<tokenizer::Pattern> pattern_;
};

}  // namespace

bool ends_in(std::string_view published, std::string_view target) {
  if (!published.ends_with(target)) return false;
  return published.size() == target.size() ||
         published[published.size() - target.size() - 1] == '.';
}

published::Names names_of(const Options& options) {
  Options base = options;
  base.adapters.clear();
  return published::family(base.family).names(base);
}

std::vector<Module> modules_of(const Options& options) {
  Options base = options;
  base.adapters.clear();
  const published::Names names = published::family(base.family).names(base);
  const std::string prefix = names.prefixes.empty() ? "" : names.prefixes[0];
  std::vector<Module> out;
  for (const decoder::WeightShape& w : decoder::weight_shapes(base)) {
    if (w.kind != WeightKind::matrix) continue;
    for (const published::WeightName& n : names.weights) {
      if (n.path != w.path) continue;
      Module m;
      m.path = w.path.substr(0, w.path.rfind('/'));
      // The output matrix stands beside the model, not in it.
      m.published = (n.hugging_face.starts_with("lm_head") ? "" : prefix) + n.hugging_face;
      m.published.resize(m.published.rfind('.'));
      m.in = w.shape[w.shape.size() - 2], m.out = w.shape.back();
      m.begin = n.begin, m.whole = n.whole > 0 ? n.whole : m.out;
      out.push_back(std::move(m));
    }
  }
  return out;
}

std::map<std::string, decoder::AdapterOptions, std::less<>> select(const Options& base,
                                                                   const LoraOptions& o) {
  if (base.experts.dense_layers > 0)
    throw Error("lora", "adapters of models whose first layers have no experts are not supported")
        .unsupported();
  if (!base.delta.layers.empty() || !base.full.layers.empty())
    throw Error("lora", "adapters of {}, whose layers are of two kinds, are not supported",
                base.family)
        .unsupported();
  const std::vector<Module> modules = modules_of(base);
  const decoder::AdapterOptions made{
      .rank = o.rank, .alpha = o.alpha, .rslora = o.use_rslora, .init = o.init};
  std::map<std::string, decoder::AdapterOptions, std::less<>> out;
  for (const std::string& text : o.target_modules) {
    const Target target(text);
    bool any = false;
    for (const Module& m : modules) {
      const std::int64_t layers = m.path.starts_with("layers/") ? base.layers : 1;
      std::int64_t meant = 0;
      for (std::int64_t layer = 0; layer < layers; ++layer) meant += target.means(m, layer);
      if (meant == 0) continue;
      if (meant < layers)
        throw Error("lora",
                    "target_modules={}: it means {} in {} of {} layers; an adapter stands "
                    "in all layers or in none",
                    text, m.published, meant, layers);
      any = true;
      out.insert_or_assign(m.path, made);
    }
    if (any) continue;
    if (text.ends_with("embed_tokens") || text.ends_with("wte") || text.ends_with("wpe"))
      throw Error("lora", "target_modules={}: adapters of embeddings are not supported", text)
          .unsupported();
    throw Error("lora", "target_modules={}: {} has no such matrix; there are {}, and all-linear",
                text, base.family, short_names(modules));
  }
  if (out.empty())
    throw Error("lora", "target_modules is empty; there are {}, and all-linear",
                short_names(modules));
  Options with = base;
  with.adapters = out;
  decoder::check(with);
  return out;
}

decoder::AdapterInit init_named(std::string_view name) {
  using enum decoder::AdapterInit;
  if (name == "kaiming_uniform") return kaiming_uniform;
  if (name == "he_uniform") return he_uniform;
  if (name == "gaussian") return gaussian;
  throw Error("lora", "init={}: allowed is kaiming_uniform or he_uniform or gaussian", name);
}

}  // namespace strata::model::lora
