#include "strata/serve/fields.h"

#include <algorithm>
#include <map>
#include <utility>

namespace strata::serve {
namespace {

using Kind = FieldKind;

const Field* field_of(std::string_view name, bool chat) {
  static const std::map<std::pair<std::string_view, bool>, const Field*> all = [] {
    std::map<std::pair<std::string_view, bool>, const Field*> out;
    for (const Field& f : fields()) {
      if (f.completion) out[{f.name, false}] = &f;
      if (f.chat) out[{f.name, true}] = &f;
    }
    return out;
  }();
  const auto found = all.find({name, chat});
  return found == all.end() ? nullptr : found->second;
}

}  // namespace

const std::vector<Field>& fields() {
  static const std::vector<Field> all = [] {
    std::vector<Field> out;
    for (const char* name : {"model",
                             "n",
                             "temperature",
                             "top_p",
                             "top_k",
                             "min_p",
                             "presence_penalty",
                             "frequency_penalty",
                             "repetition_penalty",
                             "seed",
                             "max_tokens",
                             "min_tokens",
                             "stop",
                             "stop_token_ids",
                             "ignore_eos",
                             "include_stop_str_in_output",
                             "bad_words",
                             "logit_bias",
                             "allowed_token_ids",
                             "logprobs",
                             "prompt_logprobs",
                             "logprob_token_ids",
                             "thinking_token_budget",
                             "repetition_detection",
                             "structured_outputs",
                             "skip_special_tokens",
                             "spaces_between_special_tokens",
                             "detokenize",
                             "flat_logprobs",
                             "stream_interval",
                             "priority",
                             "stream",
                             "stream_options",
                             "echo",
                             "use_beam_search",
                             "length_penalty",
                             "early_stopping",
                             "best_of",
                             "truncate_prompt_tokens",
                             "cache_salt",
                             "session_id",
                             "deadline_ms",
                             "return_token_ids",
                             "response_format",
                             "guided_json",
                             "guided_regex",
                             "guided_choice",
                             "guided_grammar",
                             "guided_whitespace_pattern",
                             "grammar",
                             "json_schema",
                             "typical_p",
                             "top_n_sigma",
                             "xtc_probability",
                             "xtc_threshold",
                             "dry_multiplier",
                             "dry_base",
                             "dry_allowed_length",
                             "dry_penalty_last_n",
                             "dry_sequence_breakers",
                             "mirostat",
                             "mirostat_tau",
                             "mirostat_eta",
                             "dynatemp_range",
                             "dynatemp_exponent",
                             "samplers"})
      out.push_back({name, Kind::read});
    out.push_back({"prompt", Kind::read, true, false});
    for (const char* name : {"messages", "max_completion_tokens", "top_logprobs", "tools",
                             "tool_choice", "parallel_tool_calls", "add_generation_prompt",
                             "continue_final_message", "chat_template_kwargs", "reasoning_effort"})
      out.push_back({name, Kind::read, false, true});
    for (const char* name : {"user", "metadata", "service_tier", "safety_identifier",
                             "prompt_cache_key", "prompt_cache_retention", "request_id"})
      out.push_back({name, Kind::aside});
    out.push_back({"suffix", Kind::neutral, true, false});
    out.push_back({"prompt_embeds", Kind::neutral, true, false});
    for (const char* name :
         {"output_kind", "extra_args", "vllm_xargs", "logits_processors", "kv_transfer_params",
          "return_tokens_as_token_ids", "return_token_offsets", "return_prompt_text",
          "prompt_cache_options", "moderation", "mm_processor_kwargs", "media_io_kwargs", "store"})
      out.push_back({name, Kind::neutral});
    out.push_back({"truncation_side", Kind::neutral, true, true, R"(["left"])"});
    out.push_back({"add_special_tokens", Kind::neutral, true, false, "[true]"});
    out.push_back({"add_special_tokens", Kind::neutral, false, true});
    for (const char* name :
         {"functions", "audio", "prediction", "web_search_options", "chat_template", "documents"})
      out.push_back({name, Kind::neutral, false, true});
    out.push_back({"function_call", Kind::neutral, false, true, R"(["none"])"});
    out.push_back({"modalities", Kind::neutral, false, true, R"([["text"]])"});
    out.push_back({"verbosity", Kind::neutral, false, true, R"(["medium"])"});
    out.push_back({"include_reasoning", Kind::neutral, false, true, "[true]"});
    return out;
  }();
  return all;
}

void refuse_unbuilt(const Json& body, bool chat) {
  for (const auto& [name, value] : body.items()) {
    const Field* field = field_of(name, chat);
    if (field == nullptr || field->kind != Kind::neutral) continue;
    if (value.is_null() || value == false || value == "" ||
        (value.is_structured() && value.empty()))
      continue;
    const Json neutral = Json::parse(field->neutral);
    if (std::find(neutral.begin(), neutral.end(), value) != neutral.end()) continue;
    throw ApiError(400, name + " is not supported by this server.", name);
  }
}

std::vector<std::string> unknown_fields(const Json& body, bool chat) {
  constexpr std::size_t kMost = 16, kLongest = 64;
  std::vector<std::string> out;
  for (const auto& [name, value] : body.items()) {
    if (field_of(name, chat) != nullptr || out.size() == kMost) continue;
    std::string shown = name.substr(0, kLongest);
    for (char& c : shown)
      if (c <= ' ' || c > '~' || c == ',') c = '?';
    out.push_back(std::move(shown));
  }
  return out;
}

}  // namespace strata::serve
