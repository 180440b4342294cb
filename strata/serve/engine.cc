#include "strata/serve/engine.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <iostream>
#include <limits>
#include <numeric>

#include "strata/base/error.h"

namespace strata::serve {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

}  // namespace

TokenLogprob logprob_of(std::span<const float> logits, std::int32_t token, std::int64_t k) {
  const float most = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (float x : logits) sum += static_cast<double>(std::exp(x - most));
  const float all = most + static_cast<float>(std::log(sum));
  TokenLogprob out{.token = token, .logprob = logits[static_cast<std::size_t>(token)] - all};
  if (k <= 0) return out;
  std::vector<std::int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto count = std::min<std::ptrdiff_t>(k, static_cast<std::ptrdiff_t>(order.size()));
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [&](std::int32_t a, std::int32_t b) {
                      const float x = logits[static_cast<std::size_t>(a)];
                      const float y = logits[static_cast<std::size_t>(b)];
                      return x != y ? x > y : a < b;
                    });
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const std::int32_t t = order[static_cast<std::size_t>(i)];
    out.top.push_back({t, logits[static_cast<std::size_t>(t)] - all});
  }
  return out;
}

namespace {

using Mode = engine::Sampling::LogprobsMode;

/// Whether the engine itself tells it, as the model's logits do not.
bool is_processed(Mode mode) {
  return mode == Mode::processed_logprobs || mode == Mode::processed_logits;
}

/// What a job is told of a token that was drawn.
TokenLogprob told(const Job& job, const engine::Token& t) {
  TokenLogprob out;
  if (is_processed(job.logprobs_mode)) {
    out = {t.token, t.logprob, {}};
    const auto& all = job.logprob_tokens.empty() ? t.others.likeliest : t.others.asked;
    for (const engine::TokenLogprob& l : all) out.top.push_back({l.token, l.logprob});
    return out;
  }
  out = logprob_of(t.logits, t.token, job.logprob_tokens.empty() ? *job.logprobs : 0);
  const float logit = t.logits[static_cast<std::size_t>(t.token)], total = logit - out.logprob;
  const bool of_logits = job.logprobs_mode == Mode::raw_logits;
  if (of_logits) {
    out.logprob = logit;
    for (Likely& l : out.top) l.logprob = t.logits[static_cast<std::size_t>(l.token)];
  }
  for (const std::int32_t asked : job.logprob_tokens) {
    const float x = t.logits[static_cast<std::size_t>(asked)];
    out.top.push_back({asked, of_logits ? x : x - total});
  }
  return out;
}

}  // namespace

/// A job that has not ended.
struct Engine::Stream {
  Stream(const tokenizer::Tokenizer& tokenizer, std::int64_t number, Job j, Listener l)
      : job(std::move(j)),
        listener(std::move(l)),
        id(number),
        decoder(tokenizer, job.skip_special) {}

  /// Takes out what no stop string can take back; the string that ended the text, if one did.
  std::string add(const std::string& piece, std::string& released) {
    held += piece;
    std::size_t at = held.npos, behind = held.npos;
    std::string found;
    for (const std::string& s : job.stop) {
      const std::size_t begin = held.find(s);
      if (begin != held.npos && begin + s.size() < behind)
        at = begin, behind = begin + s.size(), found = s;
    }
    if (at != held.npos) {
      released = held.substr(0, job.include_stop ? behind : at);
      held.clear();
      return found;
    }
    std::size_t keep = 0;
    for (const std::string& s : job.stop)
      for (std::size_t n = std::min(s.size() - 1, held.size()); n > keep; --n)
        if (held.ends_with(std::string_view(s).substr(0, n))) keep = n;
    released = held.substr(0, held.size() - keep);
    held.erase(0, released.size());
    return {};
  }

  Job job;
  Listener listener;
  std::int64_t id;
  engine::Id inner = 0;
  tokenizer::DecodeStream decoder;
  std::string held;
  std::vector<TokenLogprob> prompt;
  std::int64_t drawn = 0;
  bool ended = false;
  std::optional<Event> stopped;  // what ended it, until the engine has told of its end
  std::optional<engine::BeamSearch> search;
  Clock::time_point submitted = Clock::now(), first, last;
  std::optional<Clock::time_point> scheduled;  // when it was let in
  std::int64_t preempted = 0;
};

Engine::Engine(const engine::LanguageModel& lm, const engine::Options& options, std::int64_t queue,
               const std::optional<engine::Conversations::Limits>& rest)
    : lm_(lm),
      engine_(std::make_unique<engine::Engine>(lm.model, lm.params, options)),
      max_length_(engine_->options().max_length),
      queue_(queue),
      statistics_(engine_->statistics()) {
  const engine::Options& o = engine_->options();
  metrics_.set("cache_config_info", 1,
               "block_size=\"" + std::to_string(o.page_size) + "\",num_gpu_blocks=\"" +
                   std::to_string(o.pages) + "\",enable_prefix_caching=\"" +
                   (o.share_beginnings ? "True" : "False") + "\"");
  // Programs for guesses are not compiled while somebody waits for them.
  if (options.speculation.method != engine::Speculation::Method::none)
    engine_->warm_up(options.max_batch);
  if (rest) conversations_ = std::make_unique<engine::Conversations>(*engine_, *rest);
  measure();
  thread_ = std::thread([this] { run(); });
}

Engine::~Engine() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
  if (!conversations_) return;
  if (const Status s = conversations_->flush(); !s.ok())
    std::cerr << "note: conversations do not rest: " << s.message() << "\n";
}

std::optional<std::int64_t> Engine::submit(Job job, Listener listener) {
  engine::check(job.sampling);
  const auto length = static_cast<std::int64_t>(job.tokens.size());
  if (length < 1 || length >= max_length_)
    throw Error("serve", "a prompt of {} tokens does not fit in {}", length, max_length_);
  const std::lock_guard lock(mutex_);
  if (queue_ > 0 && jobs_ - statistics_.running >= queue_) return std::nullopt;
  const std::int64_t id = ++last_;
  ++jobs_;
  auto stream = std::make_shared<Stream>(*lm_.tokenizer, id, std::move(job), std::move(listener));
  calls_.emplace_back([this, stream] { start(stream); });
  wake_.notify_all();
  return id;
}

void Engine::cancel(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  calls_.emplace_back([this, id] {
    const auto found = streams_.find(id);
    if (found == streams_.end()) return;
    const std::shared_ptr<Stream> stream = found->second;
    if (stream->search)
      stream->search->cancel();
    else
      engine_->cancel(stream->inner);
    end(stream, {.finish = "abort"});
  });
  wake_.notify_all();
}

std::vector<TokenLogprob> Engine::score(std::vector<std::int32_t> tokens, std::int64_t top) {
  auto done = std::make_shared<std::promise<std::vector<TokenLogprob>>>();
  auto out = done->get_future();
  {
    const std::lock_guard lock(mutex_);
    calls_.emplace_back([this, done, tokens = std::move(tokens), top] {
      try {
        done->set_value(scored(tokens, top));
      } catch (...) {
        done->set_exception(std::current_exception());
      }
    });
  }
  wake_.notify_all();
  return out.get();
}

std::vector<TokenLogprob> Engine::scored(const std::vector<std::int32_t>& tokens,
                                         std::int64_t top) {
  std::vector<TokenLogprob> out;
  if (tokens.size() < 2) return out;
  if (!scorer_) scorer_ = std::make_unique<engine::Scorer>(lm_.model, lm_.params, max_length_);
  const Literal all = scorer_->logits(tokens).literal();
  const auto width = static_cast<std::size_t>(lm_.model->vocab_size());
  for (std::size_t i = 1; i < tokens.size(); ++i)
    out.push_back(logprob_of(all.span<float>().subspan((i - 1) * width, width), tokens[i], top));
  return out;
}

engine::Statistics Engine::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

void Engine::start(const std::shared_ptr<Stream>& stream) {
  const Job& job = stream->job;
  engine::Request r{.tokens = job.tokens,
                    .sampling = job.sampling,
                    .max_tokens = job.max_tokens,
                    .with_logits = job.logprobs && !is_processed(job.logprobs_mode)};
  std::vector<std::int32_t> stops = job.stop_tokens;
  if (!job.ignore_eos)
    stops.insert(stops.end(), lm_.generation.eos.begin(), lm_.generation.eos.end());
  streams_[stream->id] = stream;
  if (job.beams) return search(stream, std::move(stops));
  r.stop_tokens = stops;
  if (job.logprobs && is_processed(job.logprobs_mode)) {
    r.sampling.logprobs_mode = job.logprobs_mode;
    r.logprobs = job.logprobs;
    r.logprob_tokens = job.logprob_tokens;
  }
  r.prompt_logprobs = job.prompt_logprobs;
  r.priority = job.priority;
  r.salt = job.salt;
  r.repetition_detection = job.repetition_detection;
  if (job.time) r.deadline = stream->submitted + *job.time;
  if (job.guide) {
    std::vector<std::int32_t> ends = lm_.generation.eos;
    ends.insert(ends.end(), job.stop_tokens.begin(), job.stop_tokens.end());
    r.shape = engine::grammar::shape_of(job.guide, std::move(ends), job.free);
    r.shape_takes_guesses = true;
  }
  if (job.thinking) {
    r.shape = job.thinking->shape(std::move(r.shape));
    r.shape_takes_guesses = true;
  }
  r.on_token = [this, stream](const engine::Token& t) { token(stream, t); };
  r.on_end = [this, stream](engine::Id id, const engine::Output& out) {
    engine_->take(id);
    if (stream->ended) return;
    rest(stream, out);
    stream->scheduled = out.times.scheduled;
    stream->preempted = out.preempted;
    if (stream->stopped) {
      stream->stopped->cached_tokens = out.shared_tokens;
      stream->stopped->prompt_logprobs = out.prompt_logprobs;
      return end(stream, std::move(*stream->stopped));
    }
    Event e{.finish = out.end == engine::End::stop         ? "stop"
                      : out.end == engine::End::error      ? "error"
                      : out.end == engine::End::cancelled  ? "abort"
                      : out.end == engine::End::repetition ? "repetition"
                                                           : "length"};
    e.error = out.error;
    e.cached_tokens = out.shared_tokens;
    e.prompt_logprobs = out.prompt_logprobs;
    e.text = stream->held + stream->decoder.finish();
    if (out.end == engine::End::stop) {
      const std::int32_t last = out.tokens.back();
      const auto& named = stream->job.stop_tokens;
      if (std::find(named.begin(), named.end(), last) != named.end()) e.stop_token = last;
    }
    end(stream, std::move(e));
  };
  try {
    if (job.echo_logprobs) stream->prompt = scored(job.tokens, job.logprobs.value_or(0));
    // What cannot be read again is computed again.
    if (conversations_ && !job.session.empty() && job.tokens.size() > 1)
      (void)conversations_->resume(job.salt + '\n' + job.session);
    stream->inner = engine_->submit(std::move(r));
  } catch (const std::exception& e) {
    end(stream, {.finish = "error", .error = e.what()});
  }
}

void Engine::search(const std::shared_ptr<Stream>& stream, std::vector<std::int32_t> stops) {
  const Job& job = stream->job;
  engine::BeamOptions o{.width = job.beams->width,
                        .max_tokens = job.max_tokens,
                        .stop_tokens = std::move(stops),
                        .length_penalty = job.beams->length_penalty,
                        .early_stopping = job.beams->early_stopping,
                        .temperature = job.sampling.temperature,
                        .salt = job.salt,
                        .priority = job.priority};
  try {
    stream->search.emplace(
        *engine_, job.tokens, std::move(o),
        [this, stream](std::vector<engine::Beam> beams, engine::End how, const std::string& error) {
          found(stream, std::move(beams), how, error);
        });
  } catch (const std::exception& e) {
    end(stream, {.finish = "error", .error = e.what()});
  }
}

void Engine::found(const std::shared_ptr<Stream>& stream, std::vector<engine::Beam> beams,
                   engine::End how, const std::string& error) {
  Event e{.finish = !error.empty()             ? "error"
                    : how == engine::End::stop ? "stop"
                                               : "length",
          .error = error};
  const auto& eos = lm_.generation.eos;
  for (engine::Beam& beam : beams) {
    stream->drawn += static_cast<std::int64_t>(beam.tokens.size());
    tokenizer::DecodeStream decoder(*lm_.tokenizer, stream->job.skip_special);
    std::string text;
    for (std::size_t i = 0; i < beam.tokens.size(); ++i) {
      const bool ends = beam.stopped && i + 1 == beam.tokens.size() &&
                        std::find(eos.begin(), eos.end(), beam.tokens[i]) != eos.end();
      if (!ends) text += decoder.step(beam.tokens[i]);
    }
    text += decoder.finish();
    e.beams.push_back({std::move(text), std::move(beam)});
  }
  metrics_.add("generation_tokens", static_cast<double>(stream->drawn));
  stream->first = stream->last = Clock::now();
  metrics_.observe("time_to_first_token_seconds", since(stream->submitted));
  end(stream, std::move(e));
}

/// Lets a conversation rest, with what was read of it.
void Engine::rest(const std::shared_ptr<Stream>& stream, const engine::Output& out) {
  const Job& job = stream->job;
  if (!conversations_ || job.session.empty()) return;
  std::vector<std::int32_t> all = job.tokens;
  all.insert(all.end(), out.tokens.begin(), out.tokens.end());
  // Where it cannot, the next job reads all of it.
  (void)conversations_->park(job.salt + '\n' + job.session, all, job.salt);
}

double Engine::expected_seconds(std::int64_t prompt, std::int64_t max_tokens) const {
  const std::lock_guard lock(mutex_);
  const engine::Statistics& s = statistics_;
  const double output = std::min(static_cast<double>(max_tokens), s.expected_output);
  const double reading = read_seconds_ * static_cast<double>(s.waiting_tokens + prompt);
  // Those that wait take their turn in groups of as many as run at once.
  const double turns = static_cast<double>(s.running + s.waiting) /
                       static_cast<double>(engine_->options().max_batch);
  return reading + draw_seconds_ * (std::floor(turns) * s.expected_output + output);
}

/// Learns from a step how long tokens of prompts and steps that draw take.
void Engine::note_step(const engine::Statistics& before, double seconds) {
  const engine::Statistics after = engine_->statistics();
  const auto read = after.read - before.read, drawn = after.drawn - before.drawn;
  const auto blend = [](double& mean, double next) {
    mean = mean == 0 ? next : 0.8 * mean + 0.2 * next;
  };
  const std::lock_guard lock(mutex_);
  if (read > 4 * drawn && read > 8)
    blend(read_seconds_, seconds / static_cast<double>(read));
  else if (drawn > 0)
    blend(draw_seconds_, seconds);
}

void Engine::token(const std::shared_ptr<Stream>& stream, const engine::Token& t) {
  if (stream->ended || stream->stopped) return;
  const auto now = Clock::now();
  if (stream->drawn++ == 0) {
    stream->first = now;
    metrics_.observe("time_to_first_token_seconds", since(stream->submitted));
  } else {
    metrics_.observe("inter_token_latency_seconds",
                     std::chrono::duration<double>(now - stream->last).count());
  }
  stream->last = now;
  metrics_.add("generation_tokens");
  Event e{.token = t.token, .drawn_logprob = t.logprob};
  if (stream->job.logprobs) e.logprob = told(stream->job, t);
  e.prompt = std::move(stream->prompt);
  stream->prompt.clear();
  // The token with which the model ends a text is no text of it.
  const auto& eos = lm_.generation.eos;
  const bool ends =
      !stream->job.ignore_eos && std::find(eos.begin(), eos.end(), t.token) != eos.end();
  std::string stopped;
  if (!ends && stream->job.detokenize) stopped = stream->add(stream->decoder.step(t.token), e.text);
  if (stopped.empty() || stream->drawn < stream->job.sampling.min_tokens) {
    stream->listener(e);
    return;
  }
  e.finish = "stop";
  e.stop_string = stopped;
  stream->stopped = std::move(e);
  engine_->cancel(t.id);
}

void Engine::end(const std::shared_ptr<Stream>& stream, Event event) {
  if (stream->ended) return;
  stream->ended = true;
  event.ended = true;
  event.prompt_tokens = static_cast<std::int64_t>(stream->job.tokens.size());
  event.completion_tokens = stream->drawn;
  streams_.erase(stream->id);
  metrics_.add("request_success", 1, "finished_reason=\"" + event.finish + "\"");
  metrics_.add("prompt_tokens", static_cast<double>(event.prompt_tokens));
  metrics_.add("prompt_tokens_cached", static_cast<double>(event.cached_tokens));
  metrics_.observe("e2e_request_latency_seconds", since(stream->submitted));
  metrics_.observe("request_prompt_tokens", static_cast<double>(event.prompt_tokens));
  metrics_.observe("request_generation_tokens", static_cast<double>(stream->drawn));
  metrics_.observe("request_params_max_tokens", static_cast<double>(stream->job.max_tokens));
  metrics_.observe("request_num_preemptions", static_cast<double>(stream->preempted));
  metrics_.observe("request_prefill_kv_computed_tokens",
                   static_cast<double>(event.prompt_tokens - event.cached_tokens));
  if (stream->scheduled && stream->drawn > 0) {
    const auto between = [](Clock::time_point from, Clock::time_point to) {
      return std::chrono::duration<double>(to - from).count();
    };
    metrics_.observe("request_queue_time_seconds", between(stream->submitted, *stream->scheduled));
    metrics_.observe("request_prefill_time_seconds", between(*stream->scheduled, stream->first));
    metrics_.observe("request_decode_time_seconds", between(stream->first, stream->last));
    metrics_.observe("request_inference_time_seconds", between(*stream->scheduled, stream->last));
  }
  if (stream->drawn > 1 && !stream->job.beams)
    metrics_.observe("request_time_per_output_token_seconds",
                     std::chrono::duration<double>(stream->last - stream->first).count() /
                         static_cast<double>(stream->drawn - 1));
  {
    const std::lock_guard lock(mutex_);
    --jobs_;
  }
  measure();
  stream->listener(event);
}

void Engine::measure() {
  const engine::Statistics s = engine_->statistics();
  const double pages = static_cast<double>(engine_->options().pages);
  metrics_.set("num_requests_running", static_cast<double>(s.running));
  metrics_.set("num_requests_waiting", static_cast<double>(s.waiting));
  metrics_.set("num_requests_waiting_by_reason", static_cast<double>(s.waiting),
               "reason=\"capacity\"");
  metrics_.set("kv_cache_usage_perc", (pages - static_cast<double>(s.free_pages)) / pages);
  const std::lock_guard lock(mutex_);
  const auto add = [&](const char* name, std::int64_t now, std::int64_t before) {
    metrics_.add(name, static_cast<double>(now - before));
  };
  add("num_preemptions", s.preempted, statistics_.preempted);
  add("prefix_cache_queries", s.prefix_queries, statistics_.prefix_queries);
  add("prefix_cache_hits", s.prefix_hits, statistics_.prefix_hits);
  add("spec_decode_num_drafts", s.guesses, statistics_.guesses);
  add("spec_decode_num_draft_tokens", s.guessed, statistics_.guessed);
  add("spec_decode_num_accepted_tokens", s.accepted, statistics_.accepted);
  if (s.steps > statistics_.steps)
    metrics_.observe("iteration_tokens_total",
                     static_cast<double>(s.read + s.drawn - statistics_.read - statistics_.drawn));
  statistics_ = s;
}

void Engine::run() {
  bool busy = false;
  for (;;) {
    std::deque<std::function<void()>> calls;
    {
      std::unique_lock lock(mutex_);
      if (!busy) wake_.wait(lock, [&] { return stop_ || !calls_.empty(); });
      if (stop_) break;
      calls.swap(calls_);
    }
    for (const auto& call : calls) call();
    try {
      const engine::Statistics before = engine_->statistics();
      const auto from = Clock::now();
      busy = engine_->step();
      note_step(before, since(from));
    } catch (const std::exception& e) {
      // The cache is lost, and with it all that ran.
      engine_->reset();
      const auto all = streams_;
      for (const auto& [id, stream] : all) end(stream, {.finish = "error", .error = e.what()});
      busy = false;
    }
    measure();
  }
  const auto all = streams_;
  for (const auto& [id, stream] : all) end(stream, {.finish = "abort"});
}

}  // namespace strata::serve
