// The one door between servers and the decoding engine: a thread that owns it, requests from any
// thread, and what is drawn, as it is drawn.
//
//   serve::Engine engine(lm, {.max_batch = 32});
//   auto id = engine.submit({.tokens = lm.prompt("Once"), .max_tokens = 9},
//                           [](const serve::Event& e) { std::cout << e.text; });
//   engine.cancel(id);
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "strata/engine/engine.h"
#include "strata/engine/grammar/guide.h"
#include "strata/engine/language_model.h"
#include "strata/engine/park.h"
#include "strata/engine/samples.h"
#include "strata/engine/score.h"
#include "strata/serve/metrics.h"
#include "strata/serve/thinking.h"

namespace strata::serve {

/// A beam search: engine::BeamOptions' numbers.
struct Beams {
  std::int64_t width = 1;
  double length_penalty = 1;
  bool early_stopping = false;
};

/// One sequence to draw.
struct Job {
  std::vector<std::int32_t> tokens;
  engine::Sampling sampling = {};
  std::int64_t max_tokens = 16;
  std::vector<std::string> stop = {};
  std::vector<std::int32_t> stop_tokens = {};
  bool ignore_eos = false, include_stop = false, skip_special = true;
  /// Whether tokens become text; where not, events have none.
  bool detokenize = true;
  /// How many of the likeliest tokens are told beside each token; none: no log-probabilities.
  std::optional<std::int64_t> logprobs = {};
  /// Tokens that are told in place of the likeliest.
  std::vector<std::int32_t> logprob_tokens = {};
  /// What is told of tokens that are drawn; not of a prompt's, of which it is raw_logprobs.
  engine::Sampling::LogprobsMode logprobs_mode = engine::Sampling::LogprobsMode::raw_logprobs;
  /// Whether log-probabilities of the prompt are told before the first token.
  bool echo_logprobs = false;
  /// How many of the likeliest tokens are told of each token of the prompt, with the end.
  std::optional<std::int64_t> prompt_logprobs = {};
  /// The form that the text has; none: any.
  std::shared_ptr<engine::grammar::Guide> guide = {};
  /// Special tokens that come only where the form's text may end.
  std::vector<std::int32_t> free = {};
  /// Between marks of thinking there are so many tokens at most.
  std::optional<Thinking> thinking = {};
  /// A beam search in place of a draw: its beams come with the end.
  std::optional<Beams> beams = {};
  /// As engine::Request's.
  std::int64_t priority = 0;
  std::string salt = {};
  std::optional<engine::RepetitionDetection> repetition_detection = {};
  /// The conversation that it is part of; empty: none. What was read of it rests between jobs.
  std::string session = {};
  /// From `submit` on it has so long; what it has then is its answer, which ends with "length".
  std::optional<std::chrono::milliseconds> time = {};
};

struct Likely {
  std::int32_t token;
  float logprob;
};
/// A token with its log-probability (or what the job's logprobs_mode tells), and the likeliest
/// tokens beside it, or those that were asked for.
struct TokenLogprob {
  std::int32_t token = 0;
  float logprob = 0;
  std::vector<Likely> top = {};
};

/// One of the beams that a search found.
struct FoundBeam {
  std::string text;
  engine::Beam beam;
};

/// What happened to a job: a token was drawn, or it ended.
struct Event {
  /// Whole characters that no stop string can take back.
  std::string text = {};
  std::optional<std::int32_t> token = {};
  std::optional<TokenLogprob> logprob = {};
  /// Of the drawn token, in the distribution that it was drawn from before cuts.
  float drawn_logprob = 0;
  /// Of the prompt but its first token; with the first event where they were asked for.
  std::vector<TokenLogprob> prompt = {};
  bool ended = false;
  /// "stop", "length", "repetition", "abort" or "error", with the string or token that
  /// stopped it.
  std::string finish = {}, stop_string = {}, error = {};
  std::optional<std::int32_t> stop_token = {};
  /// With the end: of the prompt's tokens but its first; beams, the best first.
  std::vector<engine::PromptLogprob> prompt_logprobs = {};
  std::vector<FoundBeam> beams = {};
  std::int64_t prompt_tokens = 0, cached_tokens = 0, completion_tokens = 0;
};
/// Called by the engine's thread; must not wait.
using Listener = std::function<void(const Event&)>;

class Engine {
 public:
  /// The language model must outlive it. At most `queue` jobs may wait; 0: any number. `rest`:
  /// where conversations rest; none: nowhere.
  Engine(const engine::LanguageModel& lm, const engine::Options& options, std::int64_t queue = 0,
         const std::optional<engine::Conversations::Limits>& rest = {});
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Throws Error for a job that can never run, before it waits; nothing where the queue is full.
  std::optional<std::int64_t> submit(Job job, Listener listener);
  /// Ends a job before the next step; its listener hears "abort".
  void cancel(std::int64_t id);
  /// Log-probabilities of a text's tokens but the first, read in one pass between two steps.
  std::vector<TokenLogprob> score(std::vector<std::int32_t> tokens, std::int64_t top);

  const engine::LanguageModel& lm() const { return lm_; }
  std::int64_t max_length() const { return max_length_; }
  Metrics& metrics() { return metrics_; }
  engine::Statistics statistics() const;
  /// How long a job would take that comes now, by the steps so far: those before it read their
  /// prompts and end, it reads its own, and draws as many tokens as outputs have. 0 before any
  /// step.
  double expected_seconds(std::int64_t prompt, std::int64_t max_tokens) const;

 private:
  struct Stream;
  void run();
  void start(const std::shared_ptr<Stream>& stream);
  void token(const std::shared_ptr<Stream>& stream, const engine::Token& t);
  void search(const std::shared_ptr<Stream>& stream, std::vector<std::int32_t> stops);
  void found(const std::shared_ptr<Stream>& stream, std::vector<engine::Beam> beams,
             engine::End how, const std::string& error);
  void end(const std::shared_ptr<Stream>& stream, Event event);
  void measure();
  void note_step(const engine::Statistics& before, double seconds);
  void rest(const std::shared_ptr<Stream>& stream, const engine::Output& out);
  std::vector<TokenLogprob> scored(const std::vector<std::int32_t>& tokens, std::int64_t top);

  const engine::LanguageModel& lm_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<engine::Scorer> scorer_;
  std::unique_ptr<engine::Conversations> conversations_;
  std::int64_t max_length_, queue_;
  Metrics metrics_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> calls_;  // for the engine's thread
  engine::Statistics statistics_;
  double read_seconds_ = 0, draw_seconds_ = 0;  // of a prompt's token; of a step that draws
  std::map<std::int64_t, std::shared_ptr<Stream>> streams_;  // the engine's thread alone
  std::int64_t last_ = 0, jobs_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

/// log_softmax of logits: of one token, and the k likeliest, of equal ones the lowest first.
TokenLogprob logprob_of(std::span<const float> logits, std::int32_t token, std::int64_t k);

}  // namespace strata::serve
