#include "strata/serve/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace strata::serve {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 30;

[[noreturn]] void wrong(const std::string& field, const std::string& allowed, const Json& got) {
  std::string shown = dump(got);
  if (shown.size() > 60) shown = "something longer";
  throw ApiError(400, fmt::format("{} must be {}, got {}.", field, allowed, shown), field);
}

const Json* given(const Json& body, const char* field) {
  const auto found = body.find(field);
  return found == body.end() || found->is_null() ? nullptr : &*found;
}

double number(const Json& body, const char* field, double usual, double least, double most,
              const char* allowed) {
  const Json* v = given(body, field);
  if (v == nullptr) return usual;
  if (!v->is_number()) wrong(field, allowed, *v);
  const double x = v->get<double>();
  if (!(x >= least && x <= most)) wrong(field, allowed, *v);
  return x;
}

std::int64_t integer(const Json& body, const char* field, std::int64_t usual, std::int64_t least,
                     std::int64_t most) {
  const Json* v = given(body, field);
  if (v == nullptr) return usual;
  const std::string allowed = fmt::format("an integer in [{}, {}]", least, most);
  if (!v->is_number_integer() ||
      (v->is_number_unsigned() && v->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)))
    wrong(field, allowed, *v);
  const auto x = v->get<std::int64_t>();
  if (x < least || x > most) wrong(field, allowed, *v);
  return x;
}

bool flag(const Json& body, const char* field, bool usual) {
  const Json* v = given(body, field);
  if (v == nullptr) return usual;
  if (!v->is_boolean()) wrong(field, "true or false", *v);
  return v->get<bool>();
}

std::vector<std::int32_t> tokens(const Json& body, const char* field, std::int64_t vocabulary) {
  std::vector<std::int32_t> out;
  const Json* v = given(body, field);
  if (v == nullptr) return out;
  const std::string allowed = fmt::format("a list of token ids in [0, {})", vocabulary);
  if (!v->is_array() || v->size() > static_cast<std::size_t>(vocabulary)) wrong(field, allowed, *v);
  for (const Json& t : *v) {
    if (!t.is_number_integer() || t < 0 || t >= vocabulary) wrong(field, allowed, t);
    out.push_back(t.get<std::int32_t>());
  }
  return out;
}

void read_stop(Job& job, const Json& body) {
  const Json* v = given(body, "stop");
  if (v == nullptr) return;
  const char* allowed = "a string, or at most 16, of 1 to 256 bytes each";
  const Json all = v->is_array() ? *v : Json::array({*v});
  if (all.size() > 16) wrong("stop", allowed, *v);
  for (const Json& s : all) {
    if (!s.is_string() || s.get<std::string>().empty() || s.get<std::string>().size() > 256)
      wrong("stop", allowed, s);
    job.stop.push_back(s.get<std::string>());
  }
}

void read_bias(Job& job, const Json& body, std::int64_t vocabulary) {
  const Json* v = given(body, "logit_bias");
  if (v == nullptr) return;
  if (!v->is_object() || v->size() > 1024)
    wrong("logit_bias", "an object of at most 1024 token ids and numbers", *v);
  for (const auto& [key, value] : v->items()) {
    const bool digits =
        !key.empty() && key.size() < 10 &&
        std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!digits || std::stol(key) >= vocabulary)
      wrong("logit_bias", fmt::format("of token ids in [0, {})", vocabulary), Json(key));
    if (!value.is_number()) wrong("logit_bias", "of numbers", value);
    job.logit_bias.emplace_back(std::stoi(key), std::clamp(value.get<float>(), -100.0f, 100.0f));
  }
}

void read_logprobs(Job& job, const Json& body, bool chat, std::int64_t most) {
  if (!chat) {
    if (given(body, "logprobs") != nullptr) job.logprobs = integer(body, "logprobs", 0, 0, most);
    return;
  }
  const bool wants = flag(body, "logprobs", false);
  const std::int64_t top = integer(body, "top_logprobs", 0, 0, most);
  if (top > 0 && !wants)
    throw ApiError(400, "when using top_logprobs, logprobs must be set to true.", "top_logprobs");
  if (wants) job.logprobs = top;
}

/// What would change the answer and is not built passes with a neutral value alone.
void refuse_unbuilt(const Json& body) {
  for (const char* field : {"tools",
                            "functions",
                            "response_format",
                            "structured_outputs",
                            "guided_json",
                            "guided_regex",
                            "guided_choice",
                            "guided_grammar",
                            "use_beam_search",
                            "best_of",
                            "suffix",
                            "bad_words",
                            "prompt_embeds",
                            "audio",
                            "prediction",
                            "web_search_options",
                            "truncate_prompt_tokens",
                            "thinking_token_budget",
                            "repetition_detection",
                            "continue_final_message",
                            "chat_template",
                            "prompt_logprobs"}) {
    const Json* v = given(body, field);
    if (v == nullptr || *v == false || *v == "" || (v->is_structured() && v->empty())) continue;
    const std::string name = field;
    if (name == "response_format" && v->is_object() && v->value("type", Json()) == "text") continue;
    if (name == "best_of" && *v == body.value("n", Json(1))) continue;
    throw ApiError(400, name + " is not supported by this server.", name);
  }
}

}  // namespace

Parameters read_parameters(const Json& body, bool chat, const engine::Sampling& usual,
                           std::int64_t vocabulary, std::int64_t max_logprobs) {
  refuse_unbuilt(body);
  Parameters p;
  engine::Sampling& s = p.job.sampling;
  s.temperature = number(body, "temperature", usual.temperature, 0, 2, "in [0, 2]");
  s.top_p = number(body, "top_p", usual.top_p, 1e-9, 1, "in (0, 1]");
  s.min_p = number(body, "min_p", usual.min_p, 0, 1, "in [0, 1]");
  s.top_k = std::max<std::int64_t>(0, integer(body, "top_k", usual.top_k, -1, kMost));
  s.presence_penalty =
      number(body, "presence_penalty", usual.presence_penalty, -2, 2, "in [-2, 2]");
  s.frequency_penalty =
      number(body, "frequency_penalty", usual.frequency_penalty, -2, 2, "in [-2, 2]");
  s.repetition_penalty =
      number(body, "repetition_penalty", usual.repetition_penalty, 0.01, 100, "in [0.01, 100]");
  const std::int64_t seed = integer(body, "seed", -1, INT64_MIN, INT64_MAX);
  s.seed = seed == -1 ? std::random_device()() : static_cast<std::uint64_t>(seed);
  p.n = integer(body, "n", 1, 1, 64);
  if (s.greedy() && p.n > 1)
    throw ApiError(400, fmt::format("n must be 1 when using greedy sampling, got {}.", p.n), "n");
  const char* most = chat && given(body, "max_completion_tokens") != nullptr
                         ? "max_completion_tokens"
                         : "max_tokens";
  p.max_tokens_given = given(body, most) != nullptr;
  p.job.max_tokens = integer(body, most, 16, 1, kMost);
  p.job.min_tokens = integer(body, "min_tokens", 0, 0, kMost);
  if (p.max_tokens_given && p.job.min_tokens > p.job.max_tokens)
    throw ApiError(400,
                   fmt::format("min_tokens must be less than or equal to max_tokens={}, got {}.",
                               p.job.max_tokens, p.job.min_tokens),
                   "min_tokens");
  read_stop(p.job, body);
  p.job.stop_tokens = tokens(body, "stop_token_ids", vocabulary);
  p.job.ignore_eos = flag(body, "ignore_eos", false);
  p.job.include_stop = flag(body, "include_stop_str_in_output", false);
  p.job.skip_special = flag(body, "skip_special_tokens", true);
  read_bias(p.job, body, vocabulary);
  p.job.allowed = tokens(body, "allowed_token_ids", vocabulary);
  if (given(body, "allowed_token_ids") != nullptr && p.job.allowed.empty())
    throw ApiError(400, "allowed_token_ids is not None and empty!", "allowed_token_ids");
  read_logprobs(p.job, body, chat, max_logprobs);
  p.stream = flag(body, "stream", false);
  p.echo = flag(body, "echo", false);
  if (chat && p.echo) throw ApiError(400, "echo is for completions.", "echo");
  if (const Json* o = given(body, "stream_options")) {
    if (!o->is_object()) wrong("stream_options", "an object", *o);
    if (!p.stream)
      throw ApiError(400, "stream_options can only be defined when stream=True.", "stream_options");
    p.include_usage = flag(*o, "include_usage", false);
  }
  p.job.prompt_logprobs = p.echo && p.job.logprobs.has_value();
  return p;
}

}  // namespace strata::serve
