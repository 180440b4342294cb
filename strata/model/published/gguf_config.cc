#include "strata/model/published/gguf_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "strata/base/error.h"

namespace strata::model::published {

using json = nlohmann::ordered_json;

namespace {

json parsed(std::string_view key, const std::string& text) {
  json out = json::parse(text, nullptr, false);
  if (out.is_discarded()) throw Error("GGUF", "{} is no JSON value", key);
  return out;
}

/// Reads keys of one architecture.
class Reader {
 public:
  explicit Reader(const GgufMetadata& metadata)
      : m_(metadata), a_(m_.text("general.architecture")) {}

  std::optional<json> value(std::string_view key) const {
    const auto it = m_.values.find(a_ + "." + std::string(key));
    if (it == m_.values.end()) return {};
    json out = parsed(it->first, it->second);
    if (!out.is_array()) return out;
    // A value for each layer: one, where they are alike.
    if (out.empty() ||
        !std::all_of(out.begin(), out.end(), [&](const json& v) { return v == out[0]; }))
      throw Error("GGUF", "{} differs from layer to layer: {}", it->first,
                  out.dump().substr(0, 200))
          .unsupported();
    return json(out[0]);
  }
  json needed(std::string_view key) const {
    const std::optional<json> out = value(key);
    if (!out) throw Error("GGUF", "{}.{} is missing", a_, key);
    return *out;
  }
  /// Copies a key, where it is there.
  void copy(json& config, const char* to, std::string_view key) const {
    if (const std::optional<json> v = value(key)) config[to] = *v;
  }

 private:
  const GgufMetadata& m_;
  std::string a_;
};

json list(const std::vector<double>& values) { return json(values); }

/// The rotary parameters.
json rope(const Reader& r, const GgufMetadata& m) {
  json out = {{"rope_type", "default"}};
  out["rope_theta"] = r.value("rope.freq_base").value_or(json(10000.0));
  if (!m.rope_divisors.empty()) {
    // Divisors of frequencies, as longrope has them for either length.
    out["rope_type"] = "longrope";
    out["short_factor"] = out["long_factor"] = list(m.rope_divisors);
    out["attention_factor"] = 1.0;
    out["factor"] = 1.0;
    return out;
  }
  if (!m.long_factors.empty() || !m.short_factors.empty()) {
    out["rope_type"] = "longrope";
    out["short_factor"] = list(m.short_factors);
    out["long_factor"] = list(m.long_factors);
    r.copy(out, "original_max_position_embeddings", "rope.scaling.original_context_length");
    r.copy(out, "attention_factor", "rope.scaling.attn_factor");
    return out;
  }
  const json named = r.value("rope.scaling.type").value_or(json("none"));
  const std::string type = named.is_string() ? named.get<std::string>() : named.dump();
  if (type == "none") return out;
  if (type != "linear" && type != "yarn")
    throw Error("GGUF", "rope.scaling.type={}: there are none, linear, yarn, longrope", type)
        .unsupported();
  out["rope_type"] = type;
  r.copy(out, "factor", "rope.scaling.factor");
  if (type == "linear") return out;
  r.copy(out, "original_max_position_embeddings", "rope.scaling.original_context_length");
  r.copy(out, "beta_fast", "rope.scaling.yarn_beta_fast");
  r.copy(out, "beta_slow", "rope.scaling.yarn_beta_slow");
  return out;
}

}  // namespace

std::string GgufMetadata::text(std::string_view key) const {
  const auto it = values.find(key);
  if (it == values.end()) throw Error("GGUF", "{} is missing", key);
  const json value = parsed(key, it->second);
  if (!value.is_string()) throw Error("GGUF", "{}={}: allowed is a text", key, it->second);
  return value.get<std::string>();
}

std::optional<std::string> architecture_value(const GgufMetadata& m, std::string_view key) {
  const auto it = m.values.find(m.text("general.architecture") + "." + std::string(key));
  if (it == m.values.end()) return {};
  return parsed(it->first, it->second).dump(-1, ' ', true);
}

std::string usual_config(const GgufMetadata& m, std::string_view model_type,
                         std::string_view more) {
  const Reader r(m);
  if (m.embedding_shape.size() != 2)
    throw Error("GGUF", "token_embd.weight has {} dimensions; 2 are needed",
                m.embedding_shape.size());
  json c = {{"model_type", model_type}};
  c["vocab_size"] = m.embedding_shape[0];
  c["hidden_size"] = r.needed("embedding_length");
  c["num_hidden_layers"] = r.needed("block_count");
  c["intermediate_size"] = r.needed("feed_forward_length");
  c["num_attention_heads"] = r.needed("attention.head_count");
  r.copy(c, "num_key_value_heads", "attention.head_count_kv");
  r.copy(c, "head_dim", "attention.key_length");
  const std::optional<json> value_length = r.value("attention.value_length");
  if (value_length && c.contains("head_dim") && *value_length != c["head_dim"])
    throw Error("GGUF", "attention.value_length={} is not key_length={}", value_length->dump(),
                c["head_dim"].dump())
        .unsupported();
  // A config.json that says nothing may mean another number (Qwen 3's 128), a file the quotient.
  const json& width = c["hidden_size"];
  const json& count = c["num_attention_heads"];
  if (!c.contains("head_dim") && width.is_number_unsigned() && count.is_number_unsigned() &&
      count.get<std::uint64_t>() > 0 &&
      width.get<std::uint64_t>() % count.get<std::uint64_t>() == 0)
    c["head_dim"] = width.get<std::uint64_t>() / count.get<std::uint64_t>();
  r.copy(c, "rms_norm_eps", "attention.layer_norm_rms_epsilon");
  r.copy(c, "max_position_embeddings", "context_length");
  r.copy(c, "sliding_window", "attention.sliding_window");
  if (const auto pattern =
          m.values.find(m.text("general.architecture") + ".attention.sliding_window_pattern");
      pattern != m.values.end()) {
    // Which layers slide, one by one; a period is the family's own affair.
    const json slides = parsed(pattern->first, pattern->second);
    if (slides.is_array()) {
      c["use_sliding_window"] = true;
      c["layer_types"] = json::array();
      for (const json& each : slides)
        c["layer_types"].push_back(each == true ? "sliding_attention" : "full_attention");
    }
  }
  c["tie_word_embeddings"] = !m.has_output;
  c["attention_bias"] = m.query_bias;
  c["mlp_bias"] = m.mlp_bias;
  c["rope_parameters"] = rope(r, m);
  const std::optional<json> turned = r.value("rope.dimension_count");
  const json& heads = c["num_attention_heads"];
  const json head_dim = c.contains("head_dim") ? c["head_dim"] : json();
  if (turned && turned->is_number() && heads.is_number() && c["hidden_size"].is_number()) {
    const double width = head_dim.is_number()
                             ? head_dim.get<double>()
                             : c["hidden_size"].get<double>() / heads.get<double>();
    if (turned->get<double>() != width && width > 0)
      c["rope_parameters"]["partial_rotary_factor"] = turned->get<double>() / width;
  }
  const json joined = json::parse(more);
  for (const auto& [key, value] : joined.items()) c[key] = value;
  return c.dump(2, ' ', true);
}

}  // namespace strata::model::published
