#include "strata/engine/text.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace strata::engine {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

/// The text of one request, as it appears.
struct TextEngine::Stream {
  Stream(const tokenizer::Tokenizer& tokenizer, TextRequest r)
      : request(std::move(r)), decoder(tokenizer, true) {}

  /// Takes what became whole; true where a stop string ended the text.
  bool add(const std::string& piece) {
    held += piece;
    std::size_t end = std::string::npos;
    for (const std::string& s : request.stop)
      if (!s.empty()) end = std::min(end, held.find(s));
    if (end != std::string::npos) {
      held.resize(end);
      hand_on(held.size());
      return true;
    }
    std::size_t keep = 0;
    for (const std::string& s : request.stop)
      for (std::size_t n = std::min(s.size(), held.size() + 1); n-- > 1;)
        if (std::string_view(held).substr(held.size() - n) == std::string_view(s).substr(0, n)) {
          keep = std::max(keep, n);
          break;
        }
    hand_on(held.size() - keep);
    return false;
  }
  void finish() {
    held += decoder.finish();
    hand_on(held.size());
  }
  void hand_on(std::size_t count) {
    if (count == 0) return;
    const std::string piece = held.substr(0, count);
    held.erase(0, count);
    text += piece;
    if (request.on_text) request.on_text(piece);
  }

  TextRequest request;
  tokenizer::DecodeStream decoder;
  std::string text, held;
  bool stopped = false;
  Clock::time_point began = Clock::now(), first, last;
  std::int64_t tokens = 0;
};

Options options_for(const LanguageModel& lm, std::int64_t length, std::int64_t batch) {
  Options o;
  length = lm.at_most(length);
  o.max_length = length;
  o.max_batch = batch;
  o.pages = batch * ((length + o.page_size - 1) / o.page_size);
  o.vocabulary = std::min(lm.tokenizer->vocab_size(), lm.model->vocab_size());
  return o;
}

TextEngine::TextEngine(const LanguageModel& lm, const Options& options)
    : lm_(lm), engine_(lm.model, lm.params, options) {}
TextEngine::~TextEngine() = default;

Request TextEngine::request_of(const std::shared_ptr<Stream>& stream) {
  const TextRequest& r = stream->request;
  Request inner{.tokens = r.tokens,
                .sampling = r.sampling,
                .max_tokens = r.max_tokens,
                .stop_tokens = r.stop_tokens,
                .shape = r.shape,
                .shape_takes_guesses = r.shape_takes_guesses,
                .logprobs = r.logprobs,
                .prompt_logprobs = r.prompt_logprobs,
                .logprob_tokens = r.logprob_tokens,
                .priority = r.priority,
                .deadline = r.deadline,
                .salt = r.salt,
                .speculate = r.speculate,
                .repetition_detection = r.repetition_detection};
  if (!r.ignore_eos)
    inner.stop_tokens.insert(inner.stop_tokens.end(), lm_.generation.eos.begin(),
                             lm_.generation.eos.end());
  inner.on_token = [this, stream](const Token& t) {
    if (stream->request.on_token) stream->request.on_token(t);
    stream->last = Clock::now();
    if (stream->tokens++ == 0) stream->first = stream->last;
    const auto among = [&](const std::vector<std::int32_t>& list) {
      return std::find(list.begin(), list.end(), t.token) != list.end();
    };
    const bool ends = among(stream->request.stop_tokens) ||
                      (!stream->request.ignore_eos && among(lm_.generation.eos));
    if (stream->stopped || ends) return;
    if (stream->add(stream->decoder.step(t.token))) {
      stream->stopped = true;
      engine_.cancel(t.id);
    }
  };
  inner.on_end = [stream](Id, const Output&) {
    if (!stream->stopped) stream->finish();
  };
  return inner;
}

Id TextEngine::submit(TextRequest request) {
  const auto stream = std::make_shared<Stream>(*lm_.tokenizer, std::move(request));
  const Id id = engine_.submit(request_of(stream));
  streams_[id] = stream;
  return id;
}

std::vector<Id> TextEngine::submit(const TextRequest& request, std::int64_t samples) {
  std::vector<std::shared_ptr<Stream>> streams;
  std::vector<Request> inner;
  for (std::int64_t i = 0; i < samples; ++i) {
    streams.push_back(std::make_shared<Stream>(*lm_.tokenizer, request));
    inner.push_back(request_of(streams.back()));
  }
  const std::vector<Id> ids = engine_.submit(std::move(inner));
  for (std::size_t i = 0; i < ids.size(); ++i) streams_[ids[i]] = streams[i];
  return ids;
}

TextOutput TextEngine::take(Id id) {
  Output out = engine_.take(id);
  const auto node = streams_.extract(id);
  const Stream& s = *node.mapped();
  TextOutput text{.text = s.text,
                  .tokens = std::move(out.tokens),
                  .logprobs = std::move(out.logprobs),
                  .end = s.stopped ? End::stop : out.end,
                  .error = std::move(out.error),
                  .prompt_tokens = out.prompt_tokens,
                  .shared_tokens = out.shared_tokens,
                  .others = std::move(out.others),
                  .prompt_logprobs = std::move(out.prompt_logprobs),
                  .guessed = out.guessed,
                  .accepted = out.accepted};
  if (s.tokens > 0) {
    text.prompt_seconds = seconds_between(s.began, s.first);
    text.seconds = seconds_between(s.first, s.last);
  }
  return text;
}

TextOutput TextEngine::run(Id id) {
  while (!engine_.ended(id) && step()) {
  }
  return take(id);
}

}  // namespace strata::engine
