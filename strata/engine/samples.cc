#include "strata/engine/samples.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "strata/base/error.h"

namespace strata::engine {

std::vector<Output> best_of(std::vector<Output> outputs, std::size_t count) {
  const auto mean = [](const Output& o) {
    const double sum = std::accumulate(o.logprobs.begin(), o.logprobs.end(), 0.0);
    return sum / static_cast<double>(std::max<std::size_t>(o.logprobs.size(), 1));
  };
  std::stable_sort(outputs.begin(), outputs.end(),
                   [&](const Output& a, const Output& b) { return mean(a) > mean(b); });
  outputs.resize(std::min(count, outputs.size()));
  return outputs;
}

struct BeamSearch::State : std::enable_shared_from_this<State> {
  State(Engine& e, std::vector<std::int32_t> p, BeamOptions o, Done d)
      : engine(e), prompt(std::move(p)), options(std::move(o)), done(std::move(d)) {}

  /// Asks for the likeliest tokens behind each beam.
  void go_on() {
    answers.assign(live.size(), {});
    missing = live.size();
    requests.clear();
    for (std::size_t i = 0; i < live.size(); ++i) {
      Request r{.tokens = prompt,
                .sampling = {.temperature = options.temperature},
                .max_tokens = 1,
                .logprobs = 2 * options.width,
                .priority = options.priority,
                .salt = options.salt,
                .speculate = false};
      r.tokens.insert(r.tokens.end(), live[i].tokens.begin(), live[i].tokens.end());
      r.on_end = [self = shared_from_this(), i](Id id, const Output& out) {
        self->answer(i, id, out);
      };
      requests.push_back(engine.submit(std::move(r)));
    }
  }
  void answer(std::size_t i, Id id, const Output& out) {
    if (ended) return;
    answers[i] = out;
    engine.take(id);
    if (out.others.empty()) return end(out.end, out.error);
    if (--missing == 0) choose();
  }
  double score(const Beam& beam) const {
    const auto length = static_cast<double>(beam.tokens.size()) - (beam.stopped ? 1 : 0);
    return beam.sum / std::pow(std::max(length, 1.0), options.length_penalty);
  }
  bool stops(std::int32_t token) const {
    const auto& s = options.stop_tokens;
    return !options.ignore_stop_tokens && std::find(s.begin(), s.end(), token) != s.end();
  }
  /// Keeps the best continuations; ends where there are no more to be made.
  void choose() {
    std::vector<Beam> next;
    for (std::size_t i = 0; i < live.size(); ++i)
      for (const TokenLogprob& t : answers[i].others[0].likeliest) {
        if (!std::isfinite(t.logprob)) continue;  // it may not be drawn
        Beam beam = live[i];
        beam.tokens.push_back(t.token);
        beam.logprobs.push_back(t.logprob);
        beam.sum += static_cast<double>(t.logprob);
        beam.stopped = stops(t.token);
        (beam.stopped ? finished : next).push_back(std::move(beam));
      }
    std::stable_sort(next.begin(), next.end(),
                     [](const Beam& a, const Beam& b) { return a.sum > b.sum; });
    next.resize(std::min(next.size(), static_cast<std::size_t>(options.width)));
    live = std::move(next);
    ++drawn;
    const auto length = static_cast<std::int64_t>(prompt.size()) + drawn;
    if (options.early_stopping && finished.size() >= static_cast<std::size_t>(options.width))
      live.clear();
    if (live.empty()) return end(End::stop, {});
    if (drawn >= options.max_tokens) return end(End::max_tokens, {});
    if (length >= engine.options().max_length) return end(End::length, {});
    go_on();
  }
  void end(End how, const std::string& error) {
    ended = true;
    for (const Id id : requests)
      if (engine.cancel(id)) engine.take(id);
    std::vector<Beam> beams;
    if (error.empty()) beams = std::move(finished);
    if (error.empty()) beams.insert(beams.end(), live.begin(), live.end());
    for (Beam& beam : beams) beam.score = score(beam);
    std::stable_sort(beams.begin(), beams.end(),
                     [](const Beam& a, const Beam& b) { return a.score > b.score; });
    beams.resize(std::min(beams.size(), static_cast<std::size_t>(options.width)));
    if (done) done(std::move(beams), how, error);
  }

  Engine& engine;
  std::vector<std::int32_t> prompt;
  BeamOptions options;
  Done done;
  std::vector<Beam> live = {Beam()}, finished;
  std::vector<Output> answers;
  std::vector<Id> requests;
  std::size_t missing = 0;
  std::int64_t drawn = 0;
  bool ended = false;
};

BeamSearch::BeamSearch(Engine& engine, std::vector<std::int32_t> prompt, BeamOptions o, Done done) {
  if (o.width < 1 || o.max_tokens < 1)
    throw Error("beam_search", "width={} and max_tokens={} must be at least 1", o.width,
                o.max_tokens);
  if (!std::isfinite(o.length_penalty))
    throw Error("beam_search", "length_penalty must be a number, got {}", o.length_penalty);
  state_ = std::make_shared<State>(engine, std::move(prompt), std::move(o), std::move(done));
  state_->go_on();
}

void BeamSearch::cancel() {
  if (state_->ended) return;
  state_->ended = true;
  for (const Id id : state_->requests)
    if (state_->engine.cancel(id)) state_->engine.take(id);
}

std::vector<Beam> beam_search(Engine& engine, std::vector<std::int32_t> prompt,
                              const BeamOptions& options) {
  std::vector<Beam> out;
  std::string failed;
  bool done = false;
  BeamSearch search(engine, std::move(prompt), options,
                    [&](std::vector<Beam> beams, End, const std::string& error) {
                      out = std::move(beams), failed = error, done = true;
                    });
  while (!done && engine.step()) {
  }
  if (!failed.empty()) throw Error("beam_search", "{}", failed);
  return out;
}

}  // namespace strata::engine
