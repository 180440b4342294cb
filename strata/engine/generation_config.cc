#include "strata/engine/generation_config.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "strata/base/error.h"

namespace strata::engine {
namespace {

using nlohmann::ordered_json;

/// Keys that change what is drawn, and the values with which they do not.
const std::vector<std::pair<std::string, ordered_json>>& neutral() {
  static const std::vector<std::pair<std::string, ordered_json>> keys = {
      {"typical_p", 1.0},
      {"epsilon_cutoff", 0.0},
      {"eta_cutoff", 0.0},
      {"no_repeat_ngram_size", 0},
      {"num_beams", 1},
      {"num_beam_groups", 1},
      {"diversity_penalty", 0.0},
      {"length_penalty", 1.0},
      {"min_length", 0},
      {"min_new_tokens", 0},
      {"top_h", nullptr},
      {"suppress_tokens", nullptr},
      {"bad_words_ids", nullptr},
      {"sequence_bias", nullptr},
      {"begin_suppress_tokens", nullptr},
      {"forced_bos_token_id", nullptr},
      {"forced_eos_token_id", nullptr},
      {"encoder_repetition_penalty", 1.0},
      {"guidance_scale", nullptr},
      {"penalty_alpha", nullptr},
  };
  return keys;
}

class Reader {
 public:
  Reader(const ordered_json& json, const std::string& name) : json_(json), name_(name) {}

  /// The value of a key; null where it is absent or null.
  const ordered_json* find(const char* key) const {
    const auto it = json_.find(key);
    return it == json_.end() || it->is_null() ? nullptr : &*it;
  }
  [[noreturn]] void fail(const char* key, const char* what) const {
    throw Error("generation_config", "{}: {} is {}, not {}", name_, key, json_[key].dump(), what);
  }
  double number(const char* key, double otherwise) const {
    const ordered_json* v = find(key);
    if (v == nullptr) return otherwise;
    if (!v->is_number()) fail(key, "a number");
    return v->get<double>();
  }
  std::int64_t whole(const char* key, std::int64_t otherwise) const {
    const ordered_json* v = find(key);
    if (v == nullptr) return otherwise;
    if (!v->is_number_integer()) fail(key, "an integer");
    return v->get<std::int64_t>();
  }
  std::vector<std::int32_t> tokens(const char* key) const {
    std::vector<std::int32_t> out;
    const ordered_json* v = find(key);
    if (v == nullptr) return out;
    const auto add = [&](const ordered_json& x) {
      if (!x.is_number_integer() || x.get<std::int64_t>() < 0 ||
          x.get<std::int64_t>() > std::numeric_limits<std::int32_t>::max())
        fail(key, "a token or a list of tokens");
      out.push_back(x.get<std::int32_t>());
    };
    if (v->is_array())
      for (const ordered_json& x : *v) add(x);
    else
      add(*v);
    return out;
  }

 private:
  const ordered_json& json_;
  const std::string& name_;
};

GenerationConfig config_of(const ordered_json& json, const std::string& name) {
  const Reader r(json, name);
  GenerationConfig out;
  const ordered_json* sample = r.find("do_sample");
  if (sample != nullptr && !sample->is_boolean()) r.fail("do_sample", "true or false");
  const bool samples = sample != nullptr && sample->get<bool>();
  out.sampling.repetition_penalty = r.number("repetition_penalty", 1);
  if (samples) {
    out.sampling.temperature = r.number("temperature", 1);
    out.sampling.top_k = r.whole("top_k", 50);
    out.sampling.top_p = r.number("top_p", 1);
    out.sampling.min_p = r.number("min_p", 0);
  }
  check(out.sampling);
  out.eos = r.tokens("eos_token_id");
  if (const std::vector<std::int32_t> bos = r.tokens("bos_token_id"); !bos.empty())
    out.bos = bos[0];
  if (const std::int64_t n = r.whole("max_new_tokens", 0); n > 0) out.max_new_tokens = n;
  if (const ordered_json* stop = r.find("stop_strings")) {
    if (stop->is_string()) out.stop_strings.push_back(stop->get<std::string>());
    if (!stop->is_string() && !stop->is_array()) r.fail("stop_strings", "a list of texts");
    if (stop->is_array())
      for (const ordered_json& s : *stop) {
        if (!s.is_string()) r.fail("stop_strings", "a list of texts");
        out.stop_strings.push_back(s.get<std::string>());
      }
  }
  for (const auto& [key, usual] : neutral())
    if (const ordered_json* v = r.find(key.c_str()); v != nullptr && *v != usual)
      out.ignored.push_back(key + "=" + v->dump());
  return out;
}

}  // namespace

Result<GenerationConfig> read_generation_config(std::string_view text, const std::string& name) {
  if (text.size() > (std::size_t{1} << 20))
    return Status(Code::corrupt, "{}: larger than a mebibyte", name);
  const ordered_json json = ordered_json::parse(text, nullptr, false);
  if (!json.is_object()) return Status(Code::corrupt, "{}: no JSON object", name);
  try {
    return config_of(json, name);
  } catch (const Error& e) {
    return Status(Code::corrupt, "{}", e.what());
  }
}

}  // namespace strata::engine
