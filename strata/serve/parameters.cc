#include "strata/serve/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <set>

#include "strata/serve/fields.h"

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
    job.sampling.logit_bias.emplace_back(std::stoi(key),
                                         std::clamp(value.get<float>(), -100.0f, 100.0f));
  }
}

void read_words(Parameters& p, const Json& body) {
  const Json* v = given(body, "bad_words");
  if (v == nullptr) return;
  const char* allowed = "a list of at most 128 strings of 1 to 256 bytes";
  if (!v->is_array() || v->size() > 128) wrong("bad_words", allowed, *v);
  for (const Json& word : *v) {
    if (!word.is_string() || word.get<std::string>().empty() ||
        word.get<std::string>().size() > 256)
      wrong("bad_words", allowed, word);
    p.bad_words.push_back(word.get<std::string>());
  }
}

void read_repetition(Job& job, const Json& body) {
  const Json* v = given(body, "repetition_detection");
  if (v == nullptr) return;
  if (!v->is_object()) wrong("repetition_detection", "an object", *v);
  engine::RepetitionDetection d;
  d.max_size = integer(*v, "max_pattern_size", 0, 0, 4096);
  d.min_size = integer(*v, "min_pattern_size", 1, 1, 4096);
  d.min_count = integer(*v, "min_count", 2, 2, 4096);
  if (d.max_size == 0) return;
  if (d.min_size > d.max_size)
    wrong("repetition_detection", "with min_pattern_size <= max_pattern_size", *v);
  job.repetition_detection = d;
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

/// Tokens that are told in place of the likeliest; of these there can be as many, or none said.
void read_logprob_tokens(Job& job, const Json& body, bool chat, std::int64_t vocabulary) {
  if (given(body, "logprob_token_ids") == nullptr) return;
  constexpr std::size_t kMostTokens = 128;
  job.logprob_tokens = tokens(body, "logprob_token_ids", vocabulary);
  const std::size_t count = job.logprob_tokens.size();
  if (count > kMostTokens)
    throw ApiError(400,
                   fmt::format("logprob_token_ids must be at most {}, got {}.", kMostTokens, count),
                   "logprob_token_ids");
  if (job.logprobs.value_or(0) != 0 && *job.logprobs != static_cast<std::int64_t>(count))
    throw ApiError(400,
                   fmt::format("{} must be the number of logprob_token_ids, {}, got {}.",
                               chat ? "top_logprobs" : "logprobs", count, *job.logprobs),
                   "logprob_token_ids");
  if (!job.logprobs) job.logprobs = 0;
}

/// llama.cpp's samplers. A chain is made where one of them has something to do, or the order is
/// given.
void read_chain(Parameters& p, const Json& body) {
  using engine::Chain;
  constexpr double kMuch = 1e6;
  Chain c;
  c.typical_p = number(body, "typical_p", 1, 1e-9, 1, "in (0, 1]");
  c.top_n_sigma = number(body, "top_n_sigma", -1, -1, kMuch, "in [-1, 1000000]");
  c.xtc_probability = number(body, "xtc_probability", 0, 0, 1, "in [0, 1]");
  c.xtc_threshold = number(body, "xtc_threshold", 0.1, 0, 1, "in [0, 1]");
  c.dry_multiplier = number(body, "dry_multiplier", 0, 0, kMuch, "in [0, 1000000]");
  c.dry_base = number(body, "dry_base", 1.75, 1, kMuch, "in [1, 1000000]");
  c.dry_allowed_length = integer(body, "dry_allowed_length", 2, 0, kMost);
  c.dry_penalty_last_n = integer(body, "dry_penalty_last_n", -1, -1, kMost);
  c.mirostat = static_cast<int>(integer(body, "mirostat", 0, 0, 2));
  c.mirostat_tau = number(body, "mirostat_tau", 5, 0, kMuch, "in [0, 1000000]");
  c.mirostat_eta = number(body, "mirostat_eta", 0.1, 0, kMuch, "in [0, 1000000]");
  c.dynatemp_range = number(body, "dynatemp_range", 0, 0, 100, "in [0, 100]");
  c.dynatemp_exponent = number(body, "dynatemp_exponent", 1, 0, kMuch, "in [0, 1000000]");
  const Json* breakers = given(body, "dry_sequence_breakers");
  const Json usual = Json::array({"\n", ":", "\"", "*"});
  const Json& texts = breakers != nullptr ? *breakers : usual;
  const char* allowed = "a list of at most 32 strings of 1 to 40 bytes";
  if (!texts.is_array() || texts.size() > 32) wrong("dry_sequence_breakers", allowed, texts);
  for (const Json& one : texts)
    if (!one.is_string() || one.get_ref<const std::string&>().empty() ||
        one.get_ref<const std::string&>().size() > 40)
      wrong("dry_sequence_breakers", allowed, one);
  const Json* order = given(body, "samplers");
  if (order != nullptr) {
    const char* known =
        "a list of penalties, dry, top_n_sigma, top_k, typical_p, top_p, min_p, xtc and "
        "temperature, each at most once";
    if (!order->is_array() || order->size() > c.order.size()) wrong("samplers", known, *order);
    c.order.clear();
    for (const Json& one : *order) {
      Chain::Stage stage;
      if (!one.is_string() || !engine::stage_of(one.get_ref<const std::string&>(), stage) ||
          std::find(c.order.begin(), c.order.end(), stage) != c.order.end())
        wrong("samplers", known, one);
      c.order.push_back(stage);
    }
  }
  if (order == nullptr && c.typical_p == 1 && c.top_n_sigma <= 0 && c.xtc_probability == 0 &&
      c.dry_multiplier == 0 && c.mirostat == 0 && c.dynatemp_range == 0)
    return;
  if (c.dry_multiplier > 0) p.dry_breakers = texts.get<std::vector<std::string>>();
  p.job.sampling.chain = std::move(c);
}

/// A beam search, with what vLLM's takes; what it does not follow is refused.
void read_beams(Parameters& p, const Json& body) {
  Job& job = p.job;
  Beams beams{.width = p.n};
  beams.length_penalty = number(body, "length_penalty", 1, -100, 100, "in [-100, 100]");
  if (const Json* early = given(body, "early_stopping")) {
    if (!early->is_boolean() && *early != "never")
      wrong("early_stopping", "true, false or \"never\"", *early);
    beams.early_stopping = *early == true;
  }
  job.beams = beams;
  job.sampling.temperature = number(body, "temperature", 0, 0, 2, "in [0, 2]");
  const auto refuse = [](const std::string& field) {
    throw ApiError(400, field + " cannot be used together with use_beam_search.", field);
  };
  for (const char* field : {"stream",
                            "echo",
                            "stop",
                            "min_tokens",
                            "presence_penalty",
                            "frequency_penalty",
                            "repetition_penalty",
                            "logit_bias",
                            "allowed_token_ids",
                            "bad_words",
                            "repetition_detection",
                            "session_id",
                            "deadline_ms",
                            "prompt_logprobs",
                            "thinking_token_budget",
                            "top_logprobs",
                            "logprob_token_ids",
                            "typical_p",
                            "top_n_sigma",
                            "xtc_probability",
                            "dry_multiplier",
                            "mirostat",
                            "dynatemp_range",
                            "samplers"}) {
    const Json* v = given(body, field);
    if (v == nullptr || *v == false || *v == 0 || (v->is_structured() && v->empty())) continue;
    const std::string name = field;
    if (*v == 1 && (name == "repetition_penalty" || name == "typical_p")) continue;
    if (*v == -1 && (name == "thinking_token_budget" || name == "top_n_sigma")) continue;
    refuse(field);
  }
  if (job.logprobs.value_or(0) > 0)
    throw ApiError(400,
                   "logprobs must be 0 with use_beam_search, which tells those of the beams' "
                   "own tokens alone.",
                   "logprobs");
  if (p.best_of != p.n) refuse("best_of");
  if (p.form) refuse(p.form->field);
  if (p.tools.kind != ToolChoice::Kind::none) refuse("tools");
}

}  // namespace

std::vector<std::vector<std::int32_t>> bad_words(const tokenizer::Tokenizer& tokenizer,
                                                 const std::vector<std::string>& words) {
  std::vector<std::vector<std::int32_t>> out;
  for (const std::string& word : words) {
    const std::size_t from = word.find_first_not_of(' ');
    const std::string bare = from == word.npos ? word : word.substr(from);
    const auto plain = tokenizer.encode_with(bare, {}),
               spaced = tokenizer.encode_with(" " + bare, {});
    if (plain.empty()) continue;
    out.push_back(plain);
    if (spaced.size() == plain.size() && spaced[0] != plain[0]) out.push_back(spaced);
  }
  return out;
}

std::vector<std::vector<std::int32_t>> breakers(const tokenizer::Tokenizer& tokenizer,
                                                const std::vector<std::string>& texts) {
  constexpr std::size_t kTail = 20;
  std::set<std::vector<std::int32_t>> out;
  const auto size = static_cast<std::int32_t>(tokenizer.vocab_size());
  for (std::int32_t token = 0; token < size; ++token) {
    const std::string word = tokenizer.bytes(token);
    if (word.empty()) continue;
    for (const std::string& text : texts) {
      if (word.find(text) != word.npos) {
        out.insert({token});
        continue;
      }
      for (std::size_t n = std::min(word.size(), text.size() - 1); n > 0; --n) {
        if (!word.ends_with(std::string_view(text).substr(0, n))) continue;
        std::vector<std::int32_t> tail =
            tokenizer.encode_with(text.substr(n), {.add_special = false});
        tail.resize(std::min(tail.size(), kTail));
        tail.insert(tail.begin(), token);
        out.insert(std::move(tail));
      }
    }
  }
  return {out.begin(), out.end()};
}

engine::ChatEnd read_end(const Json& body) {
  const bool adds = flag(body, "add_generation_prompt", true);
  if (!flag(body, "continue_final_message", false))
    return adds ? engine::ChatEnd::answer : engine::ChatEnd::message;
  const Json* add = given(body, "add_generation_prompt");
  if (add != nullptr && *add == true)
    throw ApiError(400,
                   "Cannot set both `continue_final_message` and `add_generation_prompt` to True.",
                   "continue_final_message");
  return engine::ChatEnd::open_message;
}

Parameters read_parameters(const Json& body, bool chat, const engine::Sampling& usual,
                           std::int64_t vocabulary, std::int64_t max_logprobs) {
  refuse_unbuilt(body, chat);
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
  p.best_of = integer(body, "best_of", p.n, 1, 64);
  const bool beams = flag(body, "use_beam_search", false);
  if (s.greedy() && p.n > 1 && !beams)
    throw ApiError(400, fmt::format("n must be 1 when using greedy sampling, got {}.", p.n), "n");
  if (p.best_of < p.n)
    throw ApiError(
        400,
        fmt::format("best_of must be greater than or equal to n, got n={} and best_of={}.", p.n,
                    p.best_of),
        "best_of");
  if (s.greedy() && p.best_of > 1 && !beams)
    throw ApiError(400,
                   fmt::format("best_of must be 1 when using greedy sampling, got {}.", p.best_of),
                   "best_of");
  const char* most = chat && given(body, "max_completion_tokens") != nullptr
                         ? "max_completion_tokens"
                         : "max_tokens";
  p.max_tokens_given = given(body, most) != nullptr;
  p.job.max_tokens = integer(body, most, 16, 1, kMost);
  s.min_tokens = integer(body, "min_tokens", 0, 0, kMost);
  if (p.max_tokens_given && s.min_tokens > p.job.max_tokens)
    throw ApiError(400,
                   fmt::format("min_tokens must be less than or equal to max_tokens={}, got {}.",
                               p.job.max_tokens, s.min_tokens),
                   "min_tokens");
  read_stop(p.job, body);
  p.job.stop_tokens = tokens(body, "stop_token_ids", vocabulary);
  p.job.ignore_eos = flag(body, "ignore_eos", false);
  p.job.include_stop = flag(body, "include_stop_str_in_output", false);
  p.job.skip_special = flag(body, "skip_special_tokens", true);
  p.job.detokenize = flag(body, "detokenize", true);
  for (const char* field : {"spaces_between_special_tokens", "flat_logprobs"})
    (void)flag(body, field, false);  // of vLLM's older tokenizers, and of its Python objects
  p.stream_interval = integer(body, "stream_interval", 1, 1, kMost);
  read_bias(p.job, body, vocabulary);
  if (given(body, "allowed_token_ids") != nullptr) {
    s.allowed_tokens = tokens(body, "allowed_token_ids", vocabulary);
    if (s.allowed_tokens->empty())
      throw ApiError(400, "allowed_token_ids is not None and empty!", "allowed_token_ids");
  }
  read_words(p, body);
  read_repetition(p.job, body);
  p.job.priority = integer(body, "priority", 0, -kMost, kMost);
  if (const Json* salt = given(body, "cache_salt")) {
    if (!salt->is_string() || salt->get_ref<const std::string&>().empty() ||
        salt->get_ref<const std::string&>().size() > 1024)
      wrong("cache_salt", "a string of 1 to 1024 bytes", *salt);
    p.job.salt = salt->get<std::string>();
  }
  if (const Json* session = given(body, "session_id")) {
    if (!session->is_string() || session->get_ref<const std::string&>().empty() ||
        session->get_ref<const std::string&>().size() > 256)
      wrong("session_id", "a string of 1 to 256 bytes", *session);
    p.job.session = session->get<std::string>();
  }
  if (given(body, "deadline_ms") != nullptr)
    p.job.time = std::chrono::milliseconds(integer(body, "deadline_ms", 0, 1, 86'400'000));
  p.form = read_form(body);
  if (chat) {
    p.tools = read_tools(body);
    p.end = read_end(body);
    if (p.form && p.tools.kind != ToolChoice::Kind::none)
      throw ApiError(400, p.form->field + " cannot be used together with tools.", p.form->field);
  }
  read_logprobs(p.job, body, chat, max_logprobs);
  read_logprob_tokens(p.job, body, chat, vocabulary);
  read_chain(p, body);
  p.stream = flag(body, "stream", false);
  p.echo = flag(body, "echo", false);
  if (chat && p.echo) throw ApiError(400, "echo is for completions.", "echo");
  if (const Json* o = given(body, "stream_options")) {
    if (!o->is_object()) wrong("stream_options", "an object", *o);
    if (!p.stream)
      throw ApiError(400, "stream_options can only be defined when stream=True.", "stream_options");
    p.include_usage = flag(*o, "include_usage", false);
  }
  p.job.echo_logprobs = p.echo && p.job.logprobs.has_value();
  if (!p.job.detokenize) {
    const char* wants_text = !p.job.stop.empty()                      ? "stop"
                             : p.echo                                 ? "echo"
                             : p.tools.kind != ToolChoice::Kind::none ? "tools"
                                                                      : nullptr;
    if (wants_text != nullptr)
      throw ApiError(400, fmt::format("{} needs text, so detokenize must be true.", wants_text),
                     wants_text);
  }
  if (p.stream && p.best_of > p.n)
    throw ApiError(400, "with stream, best_of must be equal to n.", "best_of");
  if (given(body, "prompt_logprobs") != nullptr && *given(body, "prompt_logprobs") != false) {
    p.job.prompt_logprobs = integer(body, "prompt_logprobs", 0, 0, max_logprobs);
    if (p.stream)
      throw ApiError(400, "`prompt_logprobs` are not available when `stream=True`.",
                     "prompt_logprobs");
  }
  if (given(body, "truncate_prompt_tokens") != nullptr) {
    const std::int64_t most = integer(body, "truncate_prompt_tokens", -1, -1, kMost);
    if (most == 0) wrong("truncate_prompt_tokens", "-1, or at least 1", Json(0));
    p.truncate = most;
  }
  if (const std::int64_t most = integer(body, "thinking_token_budget", -1, -1, kMost); most >= 0)
    p.thinking = most;
  if (p.thinking && p.form)
    throw ApiError(400, p.form->field + " cannot be used together with thinking_token_budget.",
                   "thinking_token_budget");
  if (beams) read_beams(p, body);
  return p;
}

}  // namespace strata::serve
