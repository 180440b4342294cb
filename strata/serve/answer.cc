#include "strata/serve/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace strata::serve {
namespace {

/// JSON has no infinity: the number that upstream tells instead.
double finite(float logprob) { return std::max(static_cast<double>(logprob), -9999.0); }

Json bytes_of(const std::string& text) {
  Json out = Json::array();
  for (char c : text) out.push_back(static_cast<unsigned char>(c));
  return out;
}

void append(Json& to, const Json& more) {
  if (more.is_null()) return;
  if (to.is_null()) {
    to = more;
    return;
  }
  for (const auto& [key, list] : more.items())
    for (const Json& x : list) to[key].push_back(x);
}

}  // namespace

std::string text_of(const engine::LanguageModel& lm, std::int32_t token) {
  if (token >= lm.tokenizer->vocab_size()) return {};
  const std::string bytes = lm.tokenizer->bytes(token);
  return bytes.empty() ? lm.tokenizer->token_of(token) : bytes;
}

Answer::Answer(Engine& engine, net::HttpReply reply, Parameters parameters, bool chat,
               std::string id, std::string model, std::int64_t created,
               std::vector<std::vector<std::int32_t>> prompts, bool with_ids)
    : engine_(engine),
      reply_(std::move(reply)),
      parameters_(std::move(parameters)),
      chat_(chat),
      id_(std::move(id)),
      model_(std::move(model)),
      created_(created),
      prompts_(std::move(prompts)),
      with_ids_(with_ids),
      choices_(prompts_.size() * static_cast<std::size_t>(parameters_.best_of)) {
  for (const auto& p : prompts_) prompt_tokens_ += static_cast<std::int64_t>(p.size());
  if (chat_ && parameters_.tools.kind != ToolChoice::Kind::none)
    for (std::size_t i = 0; i < choices_.size(); ++i)
      choices_[i].reader.emplace(parameters_.calls, parameters_.tools,
                                 fmt::format("call-{}-{}-", id_, i));
}

void Answer::begin() {
  if (parameters_.stream)
    reply_.begin(
        {.type = "text/event-stream; charset=utf-8", .headers = {{"Cache-Control", "no-cache"}}});
}

void Answer::holds(std::int64_t job) {
  const std::lock_guard lock(mutex_);
  if (left_) return engine_.cancel(job);
  jobs_.push_back(job);
}

void Answer::leave() {
  const std::lock_guard lock(mutex_);
  left_ = true;
  for (std::int64_t job : jobs_) engine_.cancel(job);
}

Json Answer::frame(bool chunk) const {
  return {
      {"id", id_},
      {"object", chat_ ? chunk ? "chat.completion.chunk" : "chat.completion" : "text_completion"},
      {"created", created_},
      {"model", model_}};
}

Json Answer::usage() const {
  return {{"prompt_tokens", prompt_tokens_},
          {"completion_tokens", drawn_},
          {"total_tokens", prompt_tokens_ + drawn_}};
}

Json Answer::logprobs_of(Choice& choice, const std::vector<TokenLogprob>& tokens,
                         bool first_unknown, std::int32_t first) const {
  const engine::LanguageModel& lm = engine_.lm();
  if (chat_) {
    Json content = Json::array();
    for (const TokenLogprob& t : tokens) {
      Json top = Json::array();
      for (const Likely& l : t.top) {
        const std::string text = text_of(lm, l.token);
        top.push_back({{"token", text}, {"logprob", finite(l.logprob)}, {"bytes", bytes_of(text)}});
      }
      const std::string text = text_of(lm, t.token);
      content.push_back({{"token", text},
                         {"logprob", finite(t.logprob)},
                         {"bytes", bytes_of(text)},
                         {"top_logprobs", top}});
    }
    return {{"content", content}};
  }
  Json offsets = Json::array(), values = offsets, texts = offsets, tops = offsets;
  const auto put = [&](std::int32_t token, Json value, Json top) {
    const std::string text = text_of(lm, token);
    offsets.push_back(choice.offset);
    choice.offset += text.size();
    values.push_back(std::move(value)), texts.push_back(text), tops.push_back(std::move(top));
  };
  if (first_unknown) put(first, nullptr, nullptr);
  for (const TokenLogprob& t : tokens) {
    Json top = Json::object();
    for (const Likely& l : t.top) top[text_of(lm, l.token)] = finite(l.logprob);
    if (!t.top.empty()) top[text_of(lm, t.token)] = finite(t.logprob);
    put(t.token, finite(t.logprob), std::move(top));
  }
  return {{"text_offset", offsets},
          {"token_logprobs", values},
          {"tokens", texts},
          {"top_logprobs", tops}};
}

void Answer::send(const Json& json) {
  if (!reply_.write("data: " + dump(json) + "\n\n")) leave();
}

Json Answer::calls_json(const std::vector<ToolCall>& calls) const {
  Json out = Json::array();
  for (const ToolCall& call : calls)
    out.push_back({{"id", call.id},
                   {"type", "function"},
                   {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  return out;
}

/// Tells what has come of a choice's stream: with its first token, every `stream_interval` ones,
/// and at its end.
void Answer::stream(std::size_t i, const Event& event, const std::string& new_text,
                    Json new_logprobs, const std::vector<CallPiece>& new_calls) {
  Choice& c = choices_[i];
  c.held += new_text;
  append(c.held_logprobs, new_logprobs);
  c.held_calls.insert(c.held_calls.end(), new_calls.begin(), new_calls.end());
  if (event.token) c.held_tokens.push_back(*event.token), ++c.held_events;
  if (c.begun && !event.ended && c.held_events < parameters_.stream_interval) return;
  const std::string text = std::exchange(c.held, {});
  Json logprobs = std::exchange(c.held_logprobs, nullptr);
  const std::vector<CallPiece> calls = std::exchange(c.held_calls, {});
  const std::vector<std::int32_t> tokens = std::exchange(c.held_tokens, {});
  c.held_events = 0;
  Json choice = {{"index", i}};
  if (chat_ && !c.begun) {
    Json first = frame(true);
    first["choices"] = Json::array({{{"index", i},
                                     {"delta", {{"role", "assistant"}, {"content", ""}}},
                                     {"logprobs", nullptr},
                                     {"finish_reason", nullptr}}});
    send(first);
  }
  c.begun = true;
  if (text.empty() && calls.empty() && logprobs.is_null() && !event.ended &&
      !(with_ids_ && !tokens.empty()))
    return;
  if (chat_) {
    choice["delta"] = text.empty() ? Json::object() : Json{{"content", text}};
    for (const CallPiece& piece : calls) {
      Json one = {{"index", piece.index}};
      if (!piece.id.empty()) one["id"] = piece.id, one["type"] = "function";
      if (!piece.id.empty()) one["function"]["name"] = piece.name;
      one["function"]["arguments"] = piece.arguments;
      choice["delta"]["tool_calls"].push_back(std::move(one));
    }
  } else {
    choice["text"] = text;
  }
  choice["logprobs"] = std::move(logprobs);
  choice["finish_reason"] = event.ended ? Json(c.finish) : Json();
  if (event.ended) choice["stop_reason"] = c.stop_reason;
  if (with_ids_ && !tokens.empty()) choice["token_ids"] = tokens;
  Json chunk = frame(true);
  chunk["choices"] = Json::array({choice});
  send(chunk);
}

void Answer::hear(std::size_t i, const Event& event) {
  Choice& c = choices_[i];
  const auto& prompt = prompts_[i / static_cast<std::size_t>(parameters_.best_of)];
  std::string text = event.text;
  Json logprobs;
  if (parameters_.echo && !c.begun && (event.token || event.ended)) {
    text = engine_.lm().tokenizer->decode_with(prompt, parameters_.job.skip_special) + text;
    if (parameters_.job.echo_logprobs)
      append(logprobs, logprobs_of(c, event.prompt, true, prompt[0]));
  }
  std::vector<CallPiece> calls;
  if (c.reader) {
    CallReader::Part part = c.reader->add(text, event.ended);
    text = std::move(part.content);
    calls = std::move(part.pieces);
    c.calls.insert(c.calls.end(), part.calls.begin(), part.calls.end());
  }
  if (event.logprob) append(logprobs, logprobs_of(c, {*event.logprob}, false, 0));
  if (event.token) c.tokens.push_back(*event.token), c.sum += event.drawn_logprob;
  if (event.ended) {
    c.ended = true;
    if (!event.stop_string.empty()) c.stop_reason = event.stop_string;
    if (event.stop_token) c.stop_reason = *event.stop_token;
    c.finish = event.finish;
    // A named tool's call ends as any answer.
    if (c.finish == "stop" && !c.calls.empty() && parameters_.tools.kind != ToolChoice::Kind::named)
      c.finish = "tool_calls";
    if (event.finish == "error") error_ = event.error;
    if (parameters_.job.prompt_logprobs)
      c.prompt_logprobs = prompt_logprobs_of(prompt, event.prompt_logprobs);
    drawn_ += event.completion_tokens;
    ++ended_;
  }
  if (parameters_.stream) {
    stream(i, event, text, std::move(logprobs), calls);
  } else {
    c.begun = true;
    c.text += text;
    append(c.logprobs, logprobs);
  }
  if (event.ended && ended_ == choices_.size()) finish();
}

void Answer::hear_beams(std::size_t i, const Event& event) {
  if (!event.ended) return;
  if (event.finish == "error") error_ = event.error;
  drawn_ += event.completion_tokens;
  const auto each = static_cast<std::size_t>(parameters_.best_of);
  for (std::size_t b = 0; b < each; ++b) {
    Choice& c = choices_[i * each + b];
    c.ended = true;
    ++ended_;
    if (b >= event.beams.size()) continue;
    const FoundBeam& one = event.beams[b];
    c.begun = true;
    c.text = one.text;
    c.tokens = one.beam.tokens;
    c.finish = one.beam.stopped ? "stop" : "length";
    if (one.beam.stopped) {
      const auto& named = parameters_.job.stop_tokens;
      if (std::find(named.begin(), named.end(), c.tokens.back()) != named.end())
        c.stop_reason = c.tokens.back();
    }
    if (!parameters_.job.logprobs) continue;
    std::vector<TokenLogprob> all;
    for (std::size_t t = 0; t < c.tokens.size(); ++t)
      all.push_back({c.tokens[t], one.beam.logprobs[t], {}});
    c.logprobs = logprobs_of(c, all, false, 0);
  }
  if (ended_ == choices_.size()) finish();
}

/// As vLLM tells them: nothing of the first token, then an object of token ids for each.
Json Answer::prompt_logprobs_of(const std::vector<std::int32_t>& prompt,
                                const std::vector<engine::PromptLogprob>& all) const {
  Json out = Json::array({nullptr});
  const auto put = [&](Json& to, std::int32_t token, float logprob, std::int64_t rank) {
    to[std::to_string(token)] = {{"logprob", finite(logprob)},
                                 {"rank", rank},
                                 {"decoded_token", text_of(engine_.lm(), token)}};
  };
  for (const engine::PromptLogprob& p : all) {
    if (out.size() >= prompt.size()) break;
    Json one = Json::object();
    put(one, p.token, p.logprob, p.others.rank);
    for (const engine::TokenLogprob& l : p.others.likeliest) put(one, l.token, l.logprob, l.rank);
    out.push_back(std::move(one));
  }
  return out;
}

/// The choices of a prompt that are told: those with the greatest mean log-probability.
std::vector<std::size_t> Answer::told(std::size_t prompt) const {
  const auto each = static_cast<std::size_t>(parameters_.best_of);
  std::vector<std::size_t> out;
  for (std::size_t i = prompt * each; i < (prompt + 1) * each; ++i)
    if (choices_[i].begun) out.push_back(i);
  const auto mean = [&](std::size_t i) {
    return choices_[i].sum /
           static_cast<double>(std::max<std::size_t>(choices_[i].tokens.size(), 1));
  };
  if (parameters_.best_of == parameters_.n) return out;
  std::stable_sort(out.begin(), out.end(),
                   [&](std::size_t a, std::size_t b) { return mean(a) > mean(b); });
  out.resize(std::min(out.size(), static_cast<std::size_t>(parameters_.n)));
  return out;
}

/// A choice as an answer that is no stream has it.
Json Answer::whole(const Choice& c, std::size_t prompt, std::size_t index) const {
  Json choice = {{"index", index}};
  if (chat_) {
    const bool only_calls = c.text.empty() && !c.calls.empty();
    choice["message"] = {{"role", "assistant"},
                         {"content", only_calls ? Json() : Json(c.text)},
                         {"refusal", nullptr}};
    if (!c.calls.empty()) choice["message"]["tool_calls"] = calls_json(c.calls);
  } else {
    choice["text"] = c.text;
  }
  choice["logprobs"] = c.logprobs;
  choice["finish_reason"] = c.finish;
  choice["stop_reason"] = c.stop_reason;
  if (!chat_ && parameters_.job.prompt_logprobs) choice["prompt_logprobs"] = c.prompt_logprobs;
  if (with_ids_) {
    choice["token_ids"] = c.tokens;
    choice["prompt_token_ids"] = prompts_[prompt];
  }
  return choice;
}

void Answer::finish() {
  if (parameters_.stream) {
    if (!error_.empty()) send(error_json(500, error_));
    if (parameters_.include_usage) {
      Json last = frame(true);
      last["choices"] = Json::array();
      last["usage"] = usage();
      send(last);
    }
    reply_.write("data: [DONE]\n\n");
    reply_.end();
    return;
  }
  if (!error_.empty()) {
    reply_.send({.status = 500, .body = dump(error_json(500, error_))});
    return;
  }
  Json out = frame(false);
  out["choices"] = Json::array();
  for (std::size_t p = 0; p < prompts_.size(); ++p)
    for (const std::size_t i : told(p))
      out["choices"].push_back(whole(choices_[i], p, out["choices"].size()));
  if (chat_ && parameters_.job.prompt_logprobs)
    out["prompt_logprobs"] = choices_[0].prompt_logprobs;
  out["usage"] = usage();
  out["seed"] = parameters_.job.sampling.seed;
  reply_.send({.body = dump(out)});
}

}  // namespace strata::serve
