#include "strata/serve/server.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <ctime>

#include "strata/base/error.h"
#include "strata/base/version.h"
#include "strata/serve/answer.h"
#include "strata/serve/chat_page.h"
#include "strata/serve/fields.h"
#include "strata/serve/parameters.h"
#include "strata/serve/structural_tag.h"

namespace strata::serve {
namespace {

struct Route {
  const char* method;
  const char* path;
  bool open;  // to those without a key
};
/// All routes that there are.
constexpr Route kRoutes[] = {
    {"GET", "/", true},
    {"GET", "/health", true},
    {"GET", "/ping", true},
    {"GET", "/version", true},
    {"GET", "/metrics", false},
    {"GET", "/v1/models", false},
    {"POST", "/v1/completions", false},
    {"POST", "/v1/chat/completions", false},
    {"POST", "/v1/verify", false},
    {"POST", "/tokenize", false},
    {"POST", "/detokenize", false},
};

const Route& route_of(const net::HttpRequest& r) {
  const std::string method = r.method == "HEAD" ? "GET" : r.method;
  bool known = false;
  for (const Route& route : kRoutes) {
    if (r.path != route.path) continue;
    if (method == route.method) return route;
    known = true;
  }
  if (known) throw ApiError(405, "Method Not Allowed");
  throw ApiError(404, "Not Found");
}

std::array<unsigned char, 32> digest(std::string_view text) {
  std::array<unsigned char, 32> out;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), out.data());
  return out;
}

/// The text of a special token, by its text or its number. Throws Error for another one.
std::string special(const tokenizer::Tokenizer& tokenizer, const Json& token) {
  std::optional<std::int32_t> id;
  if (token.is_string()) id = tokenizer.id_of(token.get_ref<const std::string&>());
  if (token.is_number_integer() && token >= 0 && token < tokenizer.vocab_size())
    id = token.get<std::int32_t>();
  if (!id || !tokenizer.is_special(*id))
    throw Error("structural_tag", "{} is no special token of the model", dump(token));
  return tokenizer.token_of(*id);
}

}  // namespace

net::HttpResponse refusal(int status, const std::string& message) {
  return {.status = status, .body = dump(error_json(status, message))};
}

Server::Server(Engine& engine, ServerOptions options)
    : engine_(engine), options_(std::move(options)), created_(std::time(nullptr)) {
  if (!options_.tool_parser.empty() && !named_call_format(options_.tool_parser))
    throw Error("serve", "there is no tool parser {}; known ones are {}", options_.tool_parser,
                fmt::join(call_format_names(), ", "));
  for (const std::string& key : options_.keys) keys_.push_back(digest(key));
  thinking_ = Marks(*engine_.lm().tokenizer, options_.think_begin, options_.think_end);
}

net::HttpHandler Server::handler() {
  return [this](const net::HttpRequest& request, net::HttpReply& reply) {
    try {
      answer(request, reply);
    } catch (const ApiError& e) {
      if (e.status == 429) {
        reply.add_header("Retry-After", std::to_string(e.retry_after));
        engine_.metrics().add("admission_rejections", 1, "reason=\"rate\"");
      }
      reply.send({.status = e.status, .body = dump(error_json(e.status, e.message, e.param))});
    } catch (const Error& e) {
      reply.send(refusal(400, e.message()));
    }
  };
}

/// Throws where a request without or with a wrong key asks for what is not open, or too often.
void Server::admit(const net::HttpRequest& request) {
  if (keys_.empty()) return;
  std::string_view given = request.header("authorization");
  if (given.starts_with("Bearer ")) given.remove_prefix(7);
  if (given.empty()) given = request.header("x-api-key");
  const Digest mine = digest(given);
  bool known = false;
  for (const Digest& key : keys_) known |= CRYPTO_memcmp(key.data(), mine.data(), mine.size()) == 0;
  if (!known) throw ApiError(401, "Unauthorized");
  if (options_.requests_per_minute <= 0) return;
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  const auto most = static_cast<double>(options_.requests_per_minute);
  Budget& b = budgets_.try_emplace(mine, Budget{most, now}).first->second;
  b.left = std::min(most, b.left + most / 60 * std::chrono::duration<double>(now - b.at).count());
  b.at = now;
  if (b.left < 1) {
    ApiError often(429,
                   fmt::format("more than {} requests in a minute", options_.requests_per_minute));
    often.retry_after = static_cast<std::int64_t>(std::ceil((1 - b.left) * 60 / most));
    throw often;
  }
  b.left -= 1;
}

void Server::answer(const net::HttpRequest& request, net::HttpReply& reply) {
  const std::string origin(request.header("origin"));
  const auto& all = options_.origins;
  if (!origin.empty() && (std::find(all.begin(), all.end(), "*") != all.end() ||
                          std::find(all.begin(), all.end(), origin) != all.end()))
    reply.add_header("Access-Control-Allow-Origin", origin), reply.add_header("Vary", "Origin");
  if (request.method == "OPTIONS" && !request.header("access-control-request-method").empty()) {
    reply.add_header("Access-Control-Allow-Methods", "GET, POST, OPTIONS");
    reply.add_header("Access-Control-Allow-Headers", "authorization, content-type, x-api-key");
    reply.send({.status = 204, .type = ""});
    return;
  }
  if (!route_of(request).open) admit(request);
  const auto send = [&](std::string body, std::string type = "application/json") {
    reply.send({.type = std::move(type), .body = std::move(body)});
  };
  const std::string& path = request.path;
  if (path == "/") return send(std::string(chat_page()), "text/html; charset=utf-8");
  if (path == "/health" || path == "/ping") return send("", "text/plain");
  if (path == "/version") return send(dump({{"version", STRATA_VERSION}}));
  if (path == "/metrics")
    return send(engine_.metrics().text(options_.names[0]), "text/plain; version=0.0.4");
  if (path == "/v1/models") return send(dump(models()));
  if (path == "/tokenize") return send(dump(tokenize(parse_object(request.body))));
  if (path == "/detokenize") return send(dump(detokenize(parse_object(request.body))));
  if (path == "/v1/verify") return send(dump(verify(parse_object(request.body))));
  generate(request, reply, path == "/v1/chat/completions");
}

Json Server::models() const {
  Json data = Json::array();
  for (const std::string& name : options_.names)
    data.push_back({{"id", name},
                    {"object", "model"},
                    {"created", created_},
                    {"owned_by", "strata"},
                    {"root", options_.names[0]},
                    {"parent", nullptr},
                    {"max_model_len", engine_.max_length()}});
  return {{"object", "list"}, {"data", data}};
}

std::vector<std::int32_t> Server::encoded(const std::string& text) const {
  if (text.size() > static_cast<std::size_t>(engine_.max_length()) * 16)
    throw ApiError(400,
                   fmt::format("the prompt has {} bytes, more than 16 for each of the {} "
                               "tokens that the model reads.",
                               text.size(), engine_.max_length()),
                   "prompt");
  return engine_.lm().prompt(text);
}

std::vector<std::vector<std::int32_t>> Server::prompts_of(const Json& body, bool chat) const {
  if (chat) {
    Json messages = body.value("messages", Json());
    if (!messages.is_array() || messages.empty() || messages.size() > 4096)
      throw ApiError(400, "messages must be a list of 1 to 4096 messages.", "messages");
    std::size_t bytes = 0;
    for (Json& m : messages) {
      if (!m.is_object() || !m.contains("role") || !m["role"].is_string())
        throw ApiError(400, "each message must be an object with a role.", "messages");
      Json& content = m["content"];
      if (content.is_array()) {
        std::string text;
        for (const Json& part : content) {
          if (!part.is_object() || part.value("type", Json()) != "text" ||
              !part.value("text", Json()).is_string())
            throw ApiError(400, "parts of a message must be of type text.", "messages");
          text += (text.empty() ? "" : "\n") + part["text"].get<std::string>();
        }
        content = text;
      }
      if (!content.is_string() && !content.is_null())
        throw ApiError(400, "a message's content must be a string or a list of parts.", "messages");
      if (content.is_string()) bytes += content.get_ref<const std::string&>().size();
      prepare_calls(m);
    }
    if (bytes > static_cast<std::size_t>(engine_.max_length()) * 16)
      throw ApiError(400, "the messages are longer than the model reads.", "messages");
    Json more = body.value("chat_template_kwargs", Json::object());
    if (!more.is_object())
      throw ApiError(400, "chat_template_kwargs must be an object.", "chat_template_kwargs");
    if (const auto tools = body.find("tools"); tools != body.end() && !tools->is_null()) {
      const std::string all = dump(*tools);
      bytes += all.size();
      if (bytes > static_cast<std::size_t>(engine_.max_length()) * 16)
        throw ApiError(400, "the tools are longer than the model reads.", "tools");
      more["tools"] = *tools;
    }
    if (const Json effort = body.value("reasoning_effort", Json()); !effort.is_null()) {
      if (!effort.is_string() || effort.get_ref<const std::string&>().size() > 16)
        throw ApiError(400, "reasoning_effort must be a string as low, medium or high.",
                       "reasoning_effort");
      more["reasoning_effort"] = effort;
    }
    auto tokens = engine_.lm().chat(dump(messages), dump(more), read_end(body));
    if (!tokens) throw ApiError(400, tokens.status().message(), "messages");
    return {std::move(*tokens)};
  }
  const char* allowed =
      "prompt must be a string, a list of 1 to 1024 strings, a list of token ids, "
      "or a list of such lists.";
  const Json prompt = body.value("prompt", Json());
  const std::int64_t vocabulary = engine_.lm().model->vocab_size();
  const auto ids = [&](const Json& list) {
    std::vector<std::int32_t> out;
    if (list.empty() || list.size() > static_cast<std::size_t>(engine_.max_length()))
      throw ApiError(400, allowed, "prompt");
    for (const Json& t : list) {
      if (!t.is_number_integer() || t < 0 || t >= vocabulary)
        throw ApiError(400, fmt::format("token ids of a prompt must be in [0, {}).", vocabulary),
                       "prompt");
      out.push_back(t.get<std::int32_t>());
    }
    return out;
  };
  if (prompt.is_string()) return {encoded(prompt.get<std::string>())};
  if (!prompt.is_array() || prompt.empty()) throw ApiError(400, allowed, "prompt");
  if (prompt[0].is_number()) return {ids(prompt)};
  if (prompt.size() > 1024) throw ApiError(400, allowed, "prompt");
  std::vector<std::vector<std::int32_t>> out;
  for (const Json& p : prompt) {
    if (!p.is_string() && !p.is_array()) throw ApiError(400, allowed, "prompt");
    out.push_back(p.is_string() ? encoded(p.get<std::string>()) : ids(p));
  }
  return out;
}

void Server::generate(const net::HttpRequest& request, net::HttpReply& reply, bool chat) {
  const Json body = parse_object(request.body);
  const auto& names = options_.names;
  const Json model = body.value("model", Json());
  if (!model.is_null() &&
      (!model.is_string() ||
       std::find(names.begin(), names.end(), model.get<std::string>()) == names.end()))
    throw ApiError(404,
                   fmt::format("The model `{}` does not exist.",
                               model.is_string() ? model.get<std::string>() : "?"),
                   "model");
  Parameters p = read_parameters(body, chat, options_.usual, engine_.lm().model->vocab_size(),
                                 options_.max_logprobs);
  const std::vector<std::string> unknown = unknown_fields(body, chat);
  if (!unknown.empty() && options_.strict_fields)
    throw ApiError(400, fmt::format("{} is no field of this request.", unknown[0]), unknown[0]);
  if (!unknown.empty())
    reply.add_header("X-Ignored-Fields", fmt::format("{}", fmt::join(unknown, ", ")));
  prepare(p, body);
  auto prompts = prompts_of(body, chat);
  truncate(p, prompts);
  const auto each = static_cast<std::size_t>(p.best_of);
  if (prompts.size() * each > 1024)
    throw ApiError(400, "n (or best_of) times prompts must be at most 1024.", "n");
  const std::size_t count = p.job.beams ? prompts.size() : prompts.size() * each;
  for (const auto& t : prompts) {
    const auto length = static_cast<std::int64_t>(t.size());
    const std::int64_t room = engine_.max_length() - length;
    if (chat && !p.max_tokens_given && p.job.sampling.min_tokens > room)
      throw ApiError(400, fmt::format("min_tokens must be at most the {} that fit.", room),
                     "min_tokens");
    if (room < 1 || (p.max_tokens_given && p.job.max_tokens > room))
      throw ApiError(400, fmt::format("This model's maximum context length is {} tokens. However, "
                                      "you requested {} tokens in the messages and {} in the "
                                      "completion.",
                                      engine_.max_length(), length,
                                      p.max_tokens_given ? p.job.max_tokens : 1));
    const double expected =
        engine_.expected_seconds(length, p.max_tokens_given || !chat ? p.job.max_tokens : room);
    if (p.job.time && expected > std::chrono::duration<double>(*p.job.time).count())
      throw ApiError(503,
                     fmt::format("an answer is expected to take {:.1f} seconds, more than the {} "
                                 "milliseconds of deadline_ms; try again later.",
                                 expected, p.job.time->count()),
                     "deadline_ms");
  }
  engine_.metrics().observe("request_params_n", static_cast<double>(p.n));
  std::string id;
  {
    const std::lock_guard lock(mutex_);
    id = fmt::format("{}-{}-{}", chat ? "chatcmpl" : "cmpl", created_, ++requests_);
  }
  const auto answer = std::make_shared<Answer>(
      engine_, reply, p, chat, id, model.is_string() ? model.get<std::string>() : names[0],
      std::time(nullptr), prompts, body.value("return_token_ids", Json()) == true);
  for (std::size_t i = 0; i < count; ++i) {
    Job job = p.job;
    job.tokens = prompts[p.job.beams ? i : i / each];
    if (!p.job.beams) job.sampling.seed += i % each;
    if (p.thinking) job.thinking = thinking_.begin(job.tokens, *p.thinking);
    const std::int64_t room = engine_.max_length() - static_cast<std::int64_t>(job.tokens.size());
    job.max_tokens = p.max_tokens_given || !chat ? std::min(job.max_tokens, room) : room;
    const bool beams = job.beams.has_value();
    const auto submitted = engine_.submit(std::move(job), [answer, i, beams](const Event& e) {
      answer->begin();
      if (beams)
        answer->hear_beams(i, e);
      else
        answer->hear(i, e);
    });
    if (!submitted) {
      answer->leave();
      reply.add_header("Retry-After", "1");
      engine_.metrics().add("admission_rejections", 1, "reason=\"queue\"");
      // A stream that a choice before this one has begun can only end.
      if (!reply.send(refusal(429, "the queue is full; try again later."))) reply.abandon();
      return;
    }
    answer->holds(*submitted);
  }
  reply.on_gone([answer] { answer->leave(); });
}

/// Leaves of prompts that are too long what stands at their ends, as truncate_prompt_tokens asks.
void Server::truncate(const Parameters& p, std::vector<std::vector<std::int32_t>>& prompts) const {
  if (!p.truncate) return;
  const std::int64_t room = engine_.max_length() - (p.max_tokens_given ? p.job.max_tokens : 1);
  if (*p.truncate > engine_.max_length())
    throw ApiError(400,
                   fmt::format("truncate_prompt_tokens must be -1 or in [1, {}], got {}.",
                               engine_.max_length(), *p.truncate),
                   "truncate_prompt_tokens");
  const std::int64_t most = *p.truncate == -1 ? std::max<std::int64_t>(room, 1) : *p.truncate;
  for (auto& tokens : prompts)
    if (static_cast<std::int64_t>(tokens.size()) > most)
      tokens.erase(tokens.begin(), tokens.end() - most);
}

/// Makes ready what needs the model: forms, calls of tools, words as tokens.
void Server::prepare(Parameters& p, const Json& body) {
  const engine::LanguageModel& lm = engine_.lm();
  if (!p.bad_words.empty()) {
    const auto all = bad_words(*lm.tokenizer, p.bad_words);
    std::size_t total = 0;
    for (const auto& word : all) total += word.size();
    if (total > 1024)
      throw ApiError(400, "bad_words must be at most 1024 tokens in all.", "bad_words");
    p.job.sampling.bad_words = all;
  }
  if (!p.dry_breakers.empty()) {
    // Clients send the same ones again and again.
    const std::lock_guard lock(mutex_);
    if (p.dry_breakers != breaker_texts_) {
      breakers_ = breakers(*lm.tokenizer, p.dry_breakers);
      breaker_texts_ = p.dry_breakers;
    }
    p.job.sampling.chain->dry_breakers = breakers_;
  }
  using Mode = engine::Sampling::LogprobsMode;
  p.job.logprobs_mode = options_.logprobs_mode;
  if (p.job.beams && p.job.logprobs && options_.logprobs_mode != Mode::raw_logprobs)
    throw ApiError(400, "logprobs of beams are raw_logprobs, which this server does not tell.",
                   "logprobs");
  if (p.job.logprobs && p.best_of > p.n && options_.logprobs_mode == Mode::processed_logits)
    throw ApiError(400, "best_of goes by log-probabilities, which this server does not tell.",
                   "best_of");
  if (p.thinking && thinking_.empty())
    throw ApiError(400, "the model's tokenizer does not know the marks of thinking.",
                   "thinking_token_budget");
  using Kind = ToolChoice::Kind;
  if (!p.form && p.tools.kind == Kind::none) return;
  std::call_once(made_ready_, [&] {
    guides_ = std::make_unique<Guides>(
        std::make_shared<const engine::grammar::Vocabulary>(*lm.tokenizer, lm.model->vocab_size()));
    calls_ = options_.tool_parser.empty() ? call_format(lm)
                                          : named_call_format(options_.tool_parser).value();
    for (std::int32_t t : lm.tokenizer->encode_with(calls_.mark(), {}))
      calls_are_special_ = calls_are_special_ || lm.tokenizer->is_special(t);
  });
  const bool forced = p.tools.kind == Kind::required || p.tools.kind == Kind::named;
  p.calls = calls_;
  const bool is_json = calls_.kind == CallFormat::Kind::json;
  // No form holds special tokens: calls that have to be are written without marks there. Those of
  // other kinds are written as JSON then, as by vLLM.
  if (forced && (calls_are_special_ || !is_json))
    p.calls = {.between = "\n", .arguments = calls_.arguments, .several = calls_.several};
  if (p.tools.kind == Kind::automatic && calls_are_special_) p.job.skip_special = false;
  if (forced) p.form = form_of_calls(body, p.tools, p.calls), p.calls.sure = true;
  const bool ends = !lm.generation.eos.empty() || !p.job.stop_tokens.empty();
  if (p.tools.kind == Kind::automatic && ends && is_json) {
    std::call_once(text_made_ready_, [&] {
      text_guides_ = std::make_unique<Guides>(std::make_shared<const engine::grammar::Vocabulary>(
          engine::grammar::Vocabulary::with_special(*lm.tokenizer, lm.model->vocab_size())));
      const auto marks = lm.tokenizer->encode_with(calls_.begin + calls_.between + calls_.end, {});
      for (std::int64_t i = 0; i < lm.tokenizer->vocab_size(); ++i) {
        const auto t = static_cast<std::int32_t>(i);
        if (lm.tokenizer->is_special(t) && std::find(marks.begin(), marks.end(), t) == marks.end())
          free_.push_back(t);
      }
    });
    p.job.guide = text_guides_->get(form_of_text_with_calls(body, p.tools, calls_));
    p.job.free = free_;
    p.calls.sure = calls_.begin.find_first_not_of(" \n") != std::string::npos;
    return;
  }
  if (!p.form) return;
  if (lm.generation.eos.empty() && p.job.stop_tokens.empty())
    throw ApiError(400, "the model has no token that ends a text, so stop_token_ids are needed.",
                   p.form->field);
  if (p.form->token_tag.is_null()) {
    p.job.guide = guides_->get(*p.form);
    return;
  }
  std::call_once(tokens_made_ready_, [&] {
    token_guides_ = std::make_unique<Guides>(std::make_shared<const engine::grammar::Vocabulary>(
        engine::grammar::Vocabulary::with_marks(*lm.tokenizer, lm.model->vocab_size())));
  });
  p.form->make = [tag = p.form->token_tag, &tokenizer = *lm.tokenizer] {
    return read_structural_tag(tag, [&](const Json& token) { return special(tokenizer, token); });
  };
  p.job.guide = token_guides_->get(*p.form);
}

Json Server::tokenize(const Json& body) const {
  std::vector<std::int32_t> tokens;
  if (body.contains("messages")) {
    tokens = prompts_of(body, true)[0];
  } else {
    const Json prompt = body.value("prompt", Json());
    if (!prompt.is_string()) throw ApiError(400, "prompt must be a string.", "prompt");
    tokens = engine_.lm().tokenizer->encode_with(
        prompt.get<std::string>(),
        {.add_special = body.value("add_special_tokens", Json()) != false});
  }
  Json out = {
      {"count", tokens.size()}, {"max_model_len", engine_.max_length()}, {"tokens", tokens}};
  out["token_strs"] = nullptr;
  if (body.value("return_token_strs", Json()) == true) {
    out["token_strs"] = Json::array();
    for (std::int32_t t : tokens) out["token_strs"].push_back(text_of(engine_.lm(), t));
  }
  return out;
}

Json Server::detokenize(const Json& body) const {
  const Json list = body.value("tokens", Json());
  std::vector<std::int32_t> tokens;
  const std::int64_t vocabulary = engine_.lm().tokenizer->vocab_size();
  const std::string allowed = fmt::format("tokens must be a list of ids in [0, {}).", vocabulary);
  if (!list.is_array()) throw ApiError(400, allowed, "tokens");
  for (const Json& t : list) {
    if (!t.is_number_integer() || t < 0 || t >= vocabulary) throw ApiError(400, allowed, "tokens");
    tokens.push_back(t.get<std::int32_t>());
  }
  return {{"prompt", engine_.lm().tokenizer->decode_with(tokens, false)}};
}

/// Reads a logged choice again in one pass, alone, and compares: {"prompt_token_ids", "token_ids",
/// "logprobs"}.
Json Server::verify(const Json& body) {
  if (options_.logprobs_mode != engine::Sampling::LogprobsMode::raw_logprobs)
    throw ApiError(400, "only answers of a server that tells raw_logprobs can be verified.");
  std::vector<std::int32_t> all;
  std::size_t length = 0;
  const std::int64_t vocabulary = engine_.lm().model->vocab_size();
  for (const char* field : {"prompt_token_ids", "token_ids"}) {
    const Json list = body.value(field, Json());
    const std::string allowed =
        fmt::format("{} must be a list of ids in [0, {}).", field, vocabulary);
    if (!list.is_array() || list.empty()) throw ApiError(400, allowed, field);
    for (const Json& t : list) {
      if (!t.is_number_integer() || t < 0 || t >= vocabulary) throw ApiError(400, allowed, field);
      all.push_back(t.get<std::int32_t>());
    }
    if (length == 0) length = all.size();
  }
  if (static_cast<std::int64_t>(all.size()) > engine_.max_length())
    throw ApiError(
        400, fmt::format("prompt and output must be at most {} tokens.", engine_.max_length()),
        "token_ids");
  const Json logged = body.value("logprobs", Json());
  if (!logged.is_array() || logged.size() != all.size() - length)
    throw ApiError(400, "logprobs must be a list of one number for each of token_ids.", "logprobs");
  for (const Json& x : logged)
    if (!x.is_number()) throw ApiError(400, "logprobs must be numbers.", "logprobs");
  const std::vector<TokenLogprob> read = engine_.score(all, 0);
  Json out = {{"equal", true}, {"tokens", logged.size()}, {"first_difference", nullptr}};
  for (std::size_t i = 0; i < logged.size(); ++i) {
    const float mine = read[length - 1 + i].logprob;
    if (std::bit_cast<std::uint32_t>(logged[i].get<float>()) == std::bit_cast<std::uint32_t>(mine))
      continue;
    out["equal"] = false;
    out["first_difference"] = {{"position", i}, {"logged", logged[i]}, {"replayed", mine}};
    break;
  }
  return out;
}

}  // namespace strata::serve
