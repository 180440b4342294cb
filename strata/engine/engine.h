// The decoding engine: requests of unequal length share a model, a cache of pages and compiled
// steps.
//
//   engine::Engine e(model, params, {.pages = 1024, .max_batch = 16});
//   const engine::Id id = e.submit({.tokens = prompt, .sampling = {.temperature = 0.7, .seed = 1},
//                                   .on_token = [](const engine::Token& t) { show(t.token); }});
//   while (e.step()) {}
//   engine::Output out = e.take(id);
//
// A step reads the next tokens of each running request: a piece of a prompt that is not read yet,
// or the one token that was drawn last. There are no phases: what is known of a request is read,
// and where all of it is, a token is drawn. Tokens, their log-probabilities and logits are a
// function of the request alone, to the bit: not of those beside it, of how prompts are cut, of
// pages and their size, of `max_batch` or of threads.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/engine/chain_sampler.h"
#include "strata/engine/parked.h"
#include "strata/engine/program.h"
#include "strata/engine/request.h"
#include "strata/engine/scheduler.h"
#include "strata/engine/speculate.h"
#include "strata/model/model.h"

namespace strata::engine {

struct Options {
  /// Pages of the cache, and positions in each.
  std::int64_t pages = 256, page_size = 16;
  /// Requests that run at once; more wait.
  std::int64_t max_batch = 8;
  /// Tokens that a step reads of one request, and of all.
  std::int64_t chunk = 64, step_tokens = 256;
  /// Tokens of a request, prompt and output; 0: what all pages hold.
  std::int64_t max_length = 0;
  /// Only tokens below this number are drawn; 0: all of the model's.
  std::int64_t vocabulary = 0;
  /// Whether requests with equal beginnings share the pages that hold them.
  bool share_beginnings = true;
  /// Whether tokens are handed on with their logits.
  bool with_logits = false;
  /// The dtype of the paged KV cache: bf16, f16, f8E4M3FN or i8 (nn/attention/page_format.h); none:
  /// that of the model's computation.
  std::optional<DType> pages_dtype = {};
  /// As ScheduleOptions::reserve.
  double reserve = 1;
  /// How many of the likeliest tokens a request may ask for; -1: all.
  std::int64_t max_logprobs = 20;
  /// How tokens are guessed ahead.
  Speculation speculation = {};
  /// What time it is, for deadlines and Output::times; empty: Clock::now.
  std::function<Clock::time_point()> now = {};
};

/// What an engine did and does.
struct Statistics {
  std::int64_t steps = 0, programs = 0;             // steps, and programs that they ran
  std::int64_t read = 0, drawn = 0, preempted = 0;  // tokens read and drawn, requests put back
  std::int64_t running = 0, waiting = 0, free_pages = 0;
  std::int64_t pages = 0, used_pages = 0;           // all, and those that requests hold
  std::int64_t known_pages = 0, evicted_pages = 0;  // that can be found; that could be and are gone
  std::int64_t waiting_tokens = 0;                  // known ones of those that wait
  /// Tokens of prompts: of all requests that were let in, and of these, those found in the cache.
  std::int64_t prefix_queries = 0, prefix_hits = 0;
  std::array<std::int64_t, 7> ended = {};  // requests, by End
  /// Rows with guesses, guessed tokens, right ones; right ones by their place among the guesses.
  std::int64_t guesses = 0, guessed = 0, accepted = 0;
  std::vector<std::int64_t> accepted_at = {};
  double expected_output = 0;  // tokens, by which requests are let in
};

class Engine {
 public:
  /// `params` are cast to the model's dtype. Throws Error for options out of range, and for a model
  /// without a cache of pages.
  Engine(model::ModelPtr model, const tree::Tree& params, const Options& options = {});
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Puts a request behind those that wait. Throws Error for one that can never run: no tokens or
  /// unknown ones, more than may be, sampling out of range.
  Id submit(Request request);
  /// So many samples of one request, of which the first is as by `submit` and the others have seeds
  /// of their own (seed_of_sample): its prompt is read once, and the pages are shared.
  std::vector<Id> submit(const Request& request, std::int64_t samples);
  /// The same where each has its own listeners; all else is as in the first one.
  std::vector<Id> submit(std::vector<Request> samples);
  /// Ends a request where it is, with what it has; its pages are free at once. False: it has ended,
  /// or there is none.
  bool cancel(Id id);
  /// Ends and forgets all requests, and tells nobody: for who leaves where a listener threw.
  void reset();
  /// Reads and draws once; then calls those who listen. False: nothing was left to do. Where a
  /// program throws (no memory, say) the cache is lost: all requests are, as by `reset`.
  bool step();
  /// Compiles what one request and so many at once need, by programs that read and draw nothing.
  /// Without it the first steps do; numbers in between are compiled when they come.
  void warm_up(std::int64_t requests = 1);
  /// Goes on with other weights, of the same names and shapes: what pages hold is forgotten, and
  /// requests read again what is known of them before they draw. Throws Error for others.
  void set_params(const tree::Tree& params);
  /// A copy of what the cache has of the beginning of these tokens; none: not even a page.
  std::optional<Parked> park(std::span<const std::int32_t> tokens, std::string_view salt = {});
  /// Puts it into pages that nobody holds, as far as there are any: how many of its tokens can be
  /// found in the cache now. Throws Error for another identity, and contents that do not fit.
  std::int64_t resume(const Parked& parked);
  /// What Parked says of this engine; made when it is asked first, and after `set_params`.
  const std::string& identity();
  /// What became of a request that has ended; it is forgotten then. Throws Error for another one.
  Output take(Id id);
  bool ended(Id id) const { return outputs_.count(id) > 0; }

  Statistics statistics() const;
  const Options& options() const { return options_; }
  /// Throws an internal error where pages are lost or held twice.
  void check() const;

 private:
  struct Active;
  struct Told;
  using ActivePtr = std::shared_ptr<Active>;
  /// What a step reads of a request: known tokens, and guesses behind them.
  struct Row {
    ActivePtr request;
    std::int64_t tokens = 0;
    std::vector<std::int32_t> guesses = {};
  };

  void check(const Request& request) const;
  Clock::time_point now() const;
  void expire();
  std::vector<Row> rows_of(const Plan& plan);
  Guess guess_of(const Active& request) const;
  void finish(const ActivePtr& request, End end, std::string error = {});
  void run(const std::vector<Row>& rows, Program::Draws draws, std::int64_t width,
           std::int64_t least = 1);
  void lose_all();
  void note_prompt(const Row& row, std::span<const float> scores);
  void choose(const Row& row, std::span<const float> logits, std::span<const float> bias,
              std::vector<Told>& told);
  void advance(const Row& row, std::span<const Told> told);
  bool add_token(const ActivePtr& request, const Told& told);
  void tell();

  model::ModelPtr model_;
  Options options_;
  std::int64_t table_width_;  // pages of the longest request
  std::unique_ptr<Program> program_;
  Scheduler scheduler_;
  std::unique_ptr<Drafter> drafter_;
  ChainSampler::Noise noise_;
  std::map<Id, ActivePtr> active_;
  std::map<Id, Output> outputs_;
  std::deque<std::function<void()>> events_;  // calls that listeners are owed
  Statistics statistics_;
  std::string identity_;
  Id last_ = 0;
};

}  // namespace strata::engine
