// Which request reads what in a step: continuous batching under one budget of tokens.
//
//   Scheduler scheduler({.pages = 256, .page_size = 16});
//   scheduler.add(sequence);
//   const Plan plan = scheduler.plan();          // run the model over plan.rows, then for each row
//   scheduler.read(*row.sequence, row.tokens);   // what is in the pages now can be found by others
//   scheduler.remove(sequence);                  // where it ends: its pages are free at once
//
// There are no phases: a sequence reads what is known of it and not read yet, a piece of its prompt
// or the token that was drawn last. Those that draw come first, a token each; then prompts, a piece
// each, in order; what is left of the budget goes to guessed tokens. The order is that of
// `priority`, then of arrival; one that was put back `kPatience` times counts as the oldest.
//
// Who waits is let in where pages are free for all that is known of it and for what it is expected
// to draw, beside what the running ones are expected to draw. The expectation is learned from
// lengths of outputs that ended, so few are put back, and none for long. Where pages run out all
// the same, the last in order is put back: it gives its pages back and reads again later.
//
// A sequence begins with the whole pages that others have filled with its beginning. Of the page
// behind those it copies as many tokens as are equal, so that a text which was read before is read
// again from its last token on.
//
// Source: vLLM's v1 scheduler (Kwon et al., 2023), Sarathi-Serve's chunked prefill (Agrawal et al.,
// 2024). Deviations: prompts do not hold up those that draw; admission by expected length.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "strata/engine/pages.h"

namespace strata::engine {

struct ScheduleOptions {
  /// Pages of the cache, and positions in each.
  std::int64_t pages = 256, page_size = 16;
  /// Sequences that run at once.
  std::int64_t max_batch = 8;
  /// Tokens of a step: of one sequence, and of all.
  std::int64_t chunk = 64, step_tokens = 256;
  bool share_beginnings = true;
  /// Whether a sequence may begin with some of a page's tokens, copied.
  bool copy_parts = true;
  /// Part of the tokens that sequences are expected to draw for which admission wants free pages; 0
  /// lets in whoever fits at the moment.
  double reserve = 1;
};

/// What the scheduler knows of a request.
struct Sequence {
  std::int64_t id = 0;  // in the order of arrival
  std::int64_t priority = 0;
  std::vector<std::int32_t> known;  // prompt and output
  std::int64_t prompt = 0;          // tokens of the prompt
  std::int64_t most = 0;            // tokens that it may have, prompt and output
  std::string salt = {};
  bool reads_cache = true;   // whether pages that others filled may be its beginning
  std::int64_t guesses = 0;  // guessed tokens that it would read with the one drawn last
  /// Another one whose prompt is read first, as it is the same.
  std::shared_ptr<const Sequence> after = {};

  // The scheduler's own.
  std::int64_t computed = 0;  // of the known tokens, that the pages hold
  std::int64_t kept = 0;      // whole pages that others can find
  std::int64_t found = 0;     // tokens of the prompt that others had read
  std::int64_t put_back = 0;  // how often
  std::vector<std::int32_t> pages = {};
  std::int64_t slot = -1;  // among those that run
  bool ended = false;

  std::int64_t left() const { return static_cast<std::int64_t>(known.size()) - computed; }
  std::int64_t drawn() const { return static_cast<std::int64_t>(known.size()) - prompt; }
};
using SequencePtr = std::shared_ptr<Sequence>;

/// What a step reads of a sequence: known tokens, and room for as many guesses behind them.
struct Planned {
  SequencePtr sequence;
  std::int64_t tokens = 0, guesses = 0;
};
/// What a page holds is copied to another before the step reads.
struct PageCopy {
  SequencePtr sequence;  // whose page it becomes
  std::int32_t from, to;
};
struct Plan {
  std::vector<Planned> rows;           // in order
  std::vector<SequencePtr> let_in;     // now running, with a slot
  std::vector<SequencePtr> were_back;  // put back in this step
  std::vector<PageCopy> copies;        // before all rows, and before pages are given out again
};

class Scheduler {
 public:
  /// After so many times put back a sequence counts as the oldest.
  static constexpr std::int64_t kPatience = 3;

  explicit Scheduler(const ScheduleOptions& options);

  /// Puts one among those that wait.
  void add(SequencePtr sequence);
  /// One that has ended or is given up: its pages and its slot are free.
  void remove(const SequencePtr& sequence);
  Plan plan();
  /// Says that so many further known tokens are in its pages.
  void read(Sequence& sequence, std::int64_t tokens);
  /// Puts all running ones back, and forgets what pages hold: the weights are others now.
  void restart();
  /// Holds nothing and nobody, with an empty cache.
  void clear();

  /// In order.
  const std::vector<SequencePtr>& running() const { return running_; }
  const std::vector<SequencePtr>& waiting() const { return waiting_; }
  PagePool& pool() { return pool_; }
  const PagePool& pool() const { return pool_; }
  /// Tokens of prompts that were looked for in the cache, and found.
  std::int64_t queried() const { return queried_; }
  std::int64_t hits() const { return hits_; }
  std::int64_t times_put_back() const { return put_back_; }
  /// Tokens that an output is expected to have.
  std::int64_t expected_output() const;
  /// Throws an internal error where pages are lost or held twice.
  void check() const;

 private:
  bool ensure_pages(Sequence& sequence, std::int64_t tokens);
  std::int64_t pages_for(std::int64_t tokens) const;
  std::int64_t pages_to_come(const Sequence& sequence) const;
  bool fits(const Sequence& sequence) const;
  void let_in(const SequencePtr& sequence, Plan& plan);
  void admit(Plan& plan);
  void give_back(Sequence& sequence);
  void put_back(const SequencePtr& sequence, Plan& plan);
  bool make_room(const SequencePtr& sequence, std::int64_t tokens, Plan& plan);

  ScheduleOptions options_;
  PagePool pool_;
  std::vector<SequencePtr> waiting_, running_;  // in order
  std::vector<bool> slots_;
  bool was_short_ = false;  // whether the last step put one back
  std::int64_t queried_ = 0, hits_ = 0, put_back_ = 0;
  double usual_ = 256, spread_ = 0;  // lengths of outputs: mean and mean deviation
};

}  // namespace strata::engine
