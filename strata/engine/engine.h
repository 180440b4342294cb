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

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/engine/pages.h"
#include "strata/engine/sampling.h"
#include "strata/model/model.h"

namespace strata::engine {

struct Options {
  /// Pages of the cache, and positions in each.
  std::int64_t pages = 256, page_size = 16;
  /// Requests that run at once; more wait.
  std::int64_t max_batch = 8;
  /// Tokens that a step reads of one request, and of all requests whose prompts are not read yet.
  std::int64_t chunk = 64, step_tokens = 256;
  /// Tokens of a request, prompt and output; 0: what all pages hold.
  std::int64_t max_length = 0;
  /// Only tokens below this number are drawn; 0: all of the model's.
  std::int64_t vocabulary = 0;
  /// Whether requests with equal beginnings share the pages that hold them.
  bool share_beginnings = true;
  /// Whether tokens are handed on with their logits.
  bool with_logits = false;
};

/// A request's number, from 1 on.
using Id = std::int64_t;

/// One token, as it was drawn.
struct Token {
  Id id;
  std::int32_t token;
  /// As in Drawn.
  float logprob;
  /// Which token of the output, from 0 on.
  std::int64_t position;
  /// Before everything that changes them; empty without `with_logits`, and gone after the call.
  std::span<const float> logits;
};

/// Why a request ended: it has max_tokens tokens; it drew a stop token; it is as long as it may be;
/// it was cancelled; its logits are no numbers.
enum class End { max_tokens, stop, length, cancelled, error };
/// "max_tokens", "stop", "length", "cancelled", "error".
std::string_view name(End end);

/// What became of a request.
struct Output {
  std::vector<std::int32_t> tokens;  // a stop token among them
  std::vector<float> logprobs;       // of each
  End end = End::max_tokens;
  std::string error;  // what happened, where the end is `error`
  std::int64_t prompt_tokens = 0;
  std::int64_t shared_tokens = 0;  // of the prompt, that others had read before
};

struct Request {
  /// The prompt: one token at least.
  std::vector<std::int32_t> tokens;
  Sampling sampling = {};
  std::int64_t max_tokens = 16;
  /// Tokens that end it.
  std::vector<std::int32_t> stop_tokens = {};
  /// The position from which its output counts for what is drawn: who goes on with a text draws as
  /// if it had not been interrupted.
  std::int64_t first_position = 0;
  /// Called with each token, and with the end. Both may submit and cancel requests.
  std::function<void(const Token&)> on_token = {};
  std::function<void(Id, const Output&)> on_end = {};
};

/// What an engine did and does.
struct Statistics {
  std::int64_t steps = 0, programs = 0;             // steps, and programs that they ran
  std::int64_t read = 0, drawn = 0, preempted = 0;  // tokens read and drawn, requests put back
  std::int64_t running = 0, waiting = 0, free_pages = 0;
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
  /// What became of a request that has ended; it is forgotten then. Throws Error for another one.
  Output take(Id id);
  bool ended(Id id) const { return outputs_.count(id) > 0; }

  Statistics statistics() const;
  const Options& options() const { return options_; }
  /// Throws an internal error where pages are lost or held twice.
  void check() const;

 private:
  struct Active;
  struct Row;
  class Program;
  using ActivePtr = std::shared_ptr<Active>;

  bool ensure_pages(Active& request, std::int64_t tokens);
  void preempt(const ActivePtr& request);
  void let_go(Active& request);
  void finish(const ActivePtr& request, End end, std::string error = {});
  void take_running(std::vector<Row>& reading, std::vector<Row>& drawing);
  void admit();
  void run(const std::vector<Row>& rows, std::int64_t width, std::int64_t least = 1);
  void advance(const Row& row, std::int32_t token, float logprob, bool valid,
               std::span<const float> logits);
  void tell();

  model::ModelPtr model_;
  Options options_;
  std::int64_t table_width_;  // pages of the longest request
  std::unique_ptr<Program> program_;
  PagePool pool_;
  std::deque<ActivePtr> waiting_;
  std::vector<ActivePtr> running_;  // in the order of their admission
  std::vector<bool> slots_;         // which rows of the state per request are in use
  std::map<Id, Output> outputs_;
  std::deque<std::function<void()>> events_;  // calls that listeners are owed
  Statistics statistics_;
  bool put_back_ = false;  // whether the last step put a request back
  Id last_ = 0;
};

}  // namespace strata::engine
