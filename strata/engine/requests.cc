#include "strata/engine/requests.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "strata/base/error.h"

namespace strata::engine {
namespace {

using nlohmann::ordered_json;
using Tokens = std::vector<std::int32_t>;

/// The token before every text: of an empty context, and of whole texts.
std::int32_t prefix(const LanguageModel& lm) {
  return lm.first_token().value_or(lm.tokenizer->separator());
}

std::string text_of(const ordered_json& v, const char* what) {
  if (!v.is_string()) throw Error("request", "{} is {}, not a text", what, v.dump());
  return v.get<std::string>();
}

struct Sum {
  double logprob = 0;
  bool greedy = true;
};
/// Over the tokens behind the first `context` ones.
Sum sum(const Scorer& scorer, const Tokens& tokens, std::size_t context) {
  const Scored s = scorer.score(tokens);
  Sum out;
  for (std::size_t i = context - 1; i < s.logprobs.size(); ++i) {
    out.logprob += static_cast<double>(s.logprobs[i]);
    out.greedy = out.greedy && s.greedy[i];
  }
  return out;
}

ordered_json loglikelihood(const LanguageModel& lm, const Scorer& scorer, std::int64_t length,
                           const ordered_json& pair) {
  if (!pair.is_array() || pair.size() != 2)
    throw Error("request", "loglikelihood is {}, not [context, continuation]", pair.dump());
  std::string context = text_of(pair[0], "the context"),
              continuation = text_of(pair[1], "the continuation");
  const std::size_t end = context.find_last_not_of(" \t\n\r\f\v");
  const std::size_t kept = end == std::string::npos ? 0 : end + 1;
  continuation.insert(0, context.substr(kept));
  context.resize(kept);
  Tokens before = lm.tokenizer->encode_with(context, {});
  Tokens whole = lm.tokenizer->encode_with(context + continuation, {});
  whole.erase(whole.begin(),
              whole.begin() + static_cast<std::ptrdiff_t>(std::min(before.size(), whole.size())));
  if (before.empty()) before.push_back(prefix(lm));
  if (whole.empty()) return {{"logprob", 0.0}, {"greedy", true}};
  if (static_cast<std::int64_t>(whole.size()) > length)
    throw Error("request", "the continuation has {} tokens, more than {}", whole.size(), length);
  Tokens all = std::move(before);
  const std::size_t count = whole.size();
  all.insert(all.end(), whole.begin(), whole.end());
  // The last token is scored and not read, so one more than the model reads fits.
  if (static_cast<std::int64_t>(all.size()) > length + 1)
    all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(length + 1));
  const Sum s = sum(scorer, all, all.size() - count);
  return {{"logprob", s.logprob}, {"greedy", s.greedy}};
}

/// Windows that do not overlap; each sees the token before it as context, as in lm_eval.
ordered_json rolling(const LanguageModel& lm, const Scorer& scorer, std::int64_t length,
                     const ordered_json& text) {
  Tokens all = {prefix(lm)};
  for (const std::int32_t t : lm.tokenizer->encode_with(text_of(text, "the text"), {}))
    all.push_back(t);
  double logprob = 0;
  const auto n = static_cast<std::int64_t>(all.size());
  for (std::int64_t done = 1; done < n;) {
    const std::int64_t count = std::min(length, n - done);
    // The last window is as long as the others, and counts what is new alone.
    const std::int64_t first =
        std::max<std::int64_t>(0, std::min(done - 1, done + count - 1 - length));
    const Tokens window(all.begin() + first, all.begin() + done + count);
    logprob += sum(scorer, window, static_cast<std::size_t>(done - first)).logprob;
    done += count;
  }
  return {{"logprob", logprob}, {"tokens", n - 1}};
}

ordered_json generate(const LanguageModel& lm, TextEngine& engine, const AnswerOptions& o,
                      const ordered_json& request) {
  const std::int64_t room = engine.engine().options().max_length;
  TextRequest r;
  r.max_tokens = request.value("max_tokens", std::min(o.max_tokens, room / 2));
  if (r.max_tokens < 1 || r.max_tokens >= room)
    throw Error("request", "max_tokens={} is not between 1 and {}", r.max_tokens, room - 1);
  r.tokens = lm.tokenizer->encode_with(text_of(request["generate"], "the prompt"), {});
  if (r.tokens.empty()) r.tokens.push_back(prefix(lm));
  if (const std::int64_t most = room - r.max_tokens;
      static_cast<std::int64_t>(r.tokens.size()) > most)
    r.tokens.erase(r.tokens.begin(), r.tokens.end() - static_cast<std::ptrdiff_t>(most));
  if (request.contains("until"))
    for (const ordered_json& s : request["until"]) r.stop.push_back(text_of(s, "until"));
  r.sampling = {.temperature = request.value("temperature", 0.0),
                .top_k = request.value("top_k", std::int64_t{0}),
                .top_p = request.value("top_p", 1.0),
                .seed = request.value("seed", std::uint64_t{0})};
  const TextOutput out = engine.run(engine.submit(std::move(r)));
  if (out.end == End::error) throw Error("request", "{}", out.error);
  return {{"text", out.text}, {"tokens", out.tokens.size()}};
}

}  // namespace

Answers::Answers(const LanguageModel& lm, const AnswerOptions& options)
    : lm_(lm),
      options_(options),
      scorer_(lm.model, lm.params, lm.at_most(options.max_length)),
      engine_(lm, options_for(lm, lm.at_most(options.max_length))) {}

std::string Answers::to(std::string_view line) {
  ordered_json answer = ordered_json::object();
  try {
    const ordered_json request = ordered_json::parse(line, nullptr, false);
    if (!request.is_object()) throw Error("request", "the line is no JSON object");
    if (request.contains("id")) answer["id"] = request["id"];
    const std::int64_t length = lm_.at_most(options_.max_length);
    if (request.contains("loglikelihood"))
      answer.update(loglikelihood(lm_, scorer_, length, request["loglikelihood"]));
    else if (request.contains("loglikelihood_rolling"))
      answer.update(rolling(lm_, scorer_, length, request["loglikelihood_rolling"]));
    else if (request.contains("generate"))
      answer.update(generate(lm_, engine_, options_, request));
    else
      throw Error("request", "asks for none of loglikelihood, loglikelihood_rolling, generate");
  } catch (const Error& e) {
    answer["error"] = e.what();
  } catch (const nlohmann::json::exception& e) {
    answer["error"] = std::string("request: a value has another type: ") + e.what();
  }
  return answer.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace strata::engine
