#include "strata/engine/engine.h"

#include <algorithm>
#include <utility>

#include "strata/api/index.h"
#include "strata/api/jit.h"
#include "strata/api/lax.h"
#include "strata/api/numpy.h"
#include "strata/base/check.h"
#include "strata/base/error.h"

namespace strata::engine {
namespace {

using Tokens = std::vector<std::int32_t>;

constexpr float kNever = -std::numeric_limits<float>::infinity();

std::int64_t power_of_two(std::int64_t least) {
  std::int64_t out = 1;
  while (out < least) out *= 2;
  return out;
}

Options checked(Options o, const model::Model& model) {
  const auto at_least_one = [](const char* what, std::int64_t value) {
    if (value < 1) throw Error("engine", "{} must be at least 1, got {}", what, value);
  };
  at_least_one("pages", o.pages);
  at_least_one("page_size", o.page_size);
  at_least_one("max_batch", o.max_batch);
  at_least_one("chunk", o.chunk);
  at_least_one("step_tokens", o.step_tokens);
  if (o.max_length < 0 || o.vocabulary < 0 || o.vocabulary > model.vocab_size())
    throw Error("engine", "max_length={} must not be negative, vocabulary={} in [0, {}]",
                o.max_length, o.vocabulary, model.vocab_size());
  const std::int64_t fit = o.pages * o.page_size;
  o.max_length = o.max_length == 0 ? fit : std::min(o.max_length, fit);
  if (o.vocabulary == 0) o.vocabulary = model.vocab_size();
  return o;
}

}  // namespace

std::string_view name(End end) {
  switch (end) {
    case End::max_tokens: return "max_tokens";
    case End::stop: return "stop";
    case End::length: return "length";
    case End::cancelled: return "cancelled";
    case End::error: return "error";
  }
  return "";
}

/// A request that has not ended.
struct Engine::Active {
  Id id = 0;
  Request request;
  Tokens known;               // prompt and output
  std::int64_t computed = 0;  // of them, that the pages hold
  std::int64_t kept = 0;      // whole pages that others can find
  Tokens pages;
  std::int64_t slot = -1;  // among those that run
  bool ended = false;
  Output output;

  std::int64_t left() const { return static_cast<std::int64_t>(known.size()) - computed; }
};

/// What a step reads of a request.
struct Engine::Row {
  ActivePtr request;
  std::int64_t tokens = 0;
};

/// The compiled step and what it keeps: weights, pages, and the tokens that requests with penalties
/// have seen, a row for each slot.
class Engine::Program {
 public:
  Program(const model::ModelPtr& model, const tree::Tree& params, const Options& o)
      : slots_(o.max_batch), vocabulary_(model->vocab_size()) {
    params_ = params;
    // Weights that have the dtype already are not copied.
    const std::span<const Array> all = params.values();
    if (std::any_of(all.begin(), all.end(),
                    [&](const Array& w) { return w.dtype() != model->dtype(); }))
      params_ = jit([model](const tree::Tree& p) { return model->cast(p, model->dtype()); },
                    {.name = "cast"})(params);
    pages_ = model->init_pages(o.pages, o.page_size);
    seen_ = {zeros({slots_, vocabulary_}, DType::i1), zeros({slots_, vocabulary_}, DType::i32)};
    step_ = [run = jit(
                 [model, known = o.vocabulary](const tree::Tree& p, const model::Batch& batch,
                                               const Rows& rows, const Array& slots,
                                               const tree::Tree& pages, const Seen& seen) {
                   return body(*model, known, p, batch, rows, slots, pages, seen);
                 },
                 {.donate_argnums = {4, 5}, .name = "engine_step"})](
                const tree::Tree& p, const model::Batch& batch, const Rows& rows,
                const Array& slots, tree::Tree pages, Seen seen) {
      return run(p, batch, rows, slots, std::move(pages), std::move(seen));
    };
    begin_ =
        [run = jit(
             [](const Seen& seen, const Array& slot, const Array& prompt, const Array& output) {
               return Seen{lax::dynamic_update_index_in_dim(seen.prompt, prompt, slot, 0),
                           lax::dynamic_update_index_in_dim(seen.output, output, slot, 0)};
             },
             {.donate_argnums = {0}, .name = "engine_begin"})](
            Seen seen, const Array& slot, const Array& prompt, const Array& output) {
          return run(std::move(seen), slot, prompt, output);
        };
  }

  struct Result {
    Drawn drawn;
    Array logits;
  };
  Result run(const model::Batch& batch, const Rows& rows, const Array& slots) {
    auto [drawn, logits, pages, seen] =
        step_(params_, batch, rows, slots, std::move(pages_), std::move(seen_));
    pages_ = std::move(pages);
    seen_ = std::move(seen);
    return {std::move(drawn), std::move(logits)};
  }

  /// Says what the request in a slot has seen.
  void begin(std::int64_t slot, std::span<const std::int32_t> prompt,
             std::span<const std::int32_t> output) {
    std::vector<std::int32_t> in_prompt(static_cast<std::size_t>(vocabulary_)), counts = in_prompt;
    for (std::int32_t t : prompt) in_prompt[static_cast<std::size_t>(t)] = 1;
    for (std::int32_t t : output) ++counts[static_cast<std::size_t>(t)];
    seen_ = begin_(std::move(seen_), Array(static_cast<std::int32_t>(slot)), array(in_prompt) != 0,
                   array(counts));
  }

 private:
  using Stepped = std::tuple<Drawn, Array, tree::Tree, Seen>;

  /// Rows of slots[b] = the number of slots draw nothing that counts.
  static Stepped body(const model::Model& model, std::int64_t known, const tree::Tree& params,
                      const model::Batch& batch, const Rows& rows, const Array& slots,
                      const tree::Tree& pages, const Seen& seen) {
    auto [logits, next] = model.extend_pages(params, batch, pages);
    const Array f32 = logits.astype(DType::f32);
    const Array may =
        known == model.vocab_size()
            ? f32
            : where(arange(f32.shape(1)) < static_cast<std::int32_t>(known), f32, kNever);
    const AtOptions clip{.mode = "clip"};
    Drawn drawn =
        draw(may, rows, Seen{seen.prompt.at(slots).get(clip), seen.output.at(slots).get(clip)});
    Seen after{seen.prompt, seen.output.at({slots, drawn.token}).add(1, {.mode = "drop"})};
    return {std::move(drawn), f32, std::move(next), std::move(after)};
  }

  std::int64_t slots_, vocabulary_;
  tree::Tree params_, pages_;
  Seen seen_;
  std::function<Stepped(const tree::Tree&, const model::Batch&, const Rows&, const Array&,
                        tree::Tree, Seen)>
      step_;
  std::function<Seen(Seen, const Array&, const Array&, const Array&)> begin_;
};

Engine::Engine(model::ModelPtr model, const tree::Tree& params, const Options& options)
    : model_(std::move(model)),
      options_(checked(options, *model_)),
      table_width_((options_.max_length + options_.page_size - 1) / options_.page_size),
      program_(std::make_unique<Program>(model_, params, options_)),
      pool_(options_.pages, options_.page_size),
      slots_(static_cast<std::size_t>(options_.max_batch)) {}

Engine::~Engine() = default;

// ---- requests -----------------------------------------------------------------------------------

Id Engine::submit(Request request) {
  engine::check(request.sampling);
  const auto length = static_cast<std::int64_t>(request.tokens.size());
  if (length < 1) throw Error("engine", "a request needs one token at least");
  if (length >= options_.max_length)
    throw Error("engine", "a prompt of {} tokens leaves no room below max_length={}", length,
                options_.max_length);
  if (request.max_tokens < 1)
    throw Error("engine", "max_tokens must be at least 1, got {}", request.max_tokens);
  for (const Tokens* list : {&request.tokens, &request.stop_tokens})
    for (std::int32_t t : *list)
      if (t < 0 || t >= model_->vocab_size())
        throw Error("engine", "token {} is not in [0, {})", t, model_->vocab_size());
  if (request.first_position < 0 ||
      request.first_position > std::numeric_limits<std::int32_t>::max() - (1 << 30))
    throw Error("engine", "first_position={} must be in [0, 2^30)", request.first_position);
  auto active = std::make_shared<Active>();
  active->id = ++last_;
  active->known = request.tokens;
  active->output.prompt_tokens = length;
  active->request = std::move(request);
  waiting_.push_back(active);
  return active->id;
}

bool Engine::cancel(Id id) {
  const auto of = [&](const ActivePtr& r) { return r->id == id; };
  if (auto it = std::find_if(running_.begin(), running_.end(), of); it != running_.end()) {
    finish(ActivePtr(*it), End::cancelled);
    return true;
  }
  if (auto it = std::find_if(waiting_.begin(), waiting_.end(), of); it != waiting_.end()) {
    finish(ActivePtr(*it), End::cancelled);
    return true;
  }
  return false;
}

void Engine::reset() {
  for (const ActivePtr& r : running_) let_go(*r);
  running_.clear();
  waiting_.clear();
  outputs_.clear();
  events_.clear();
}

Output Engine::take(Id id) {
  auto found = outputs_.extract(id);
  if (found.empty()) throw Error("engine", "there is no request {} that has ended", id);
  return std::move(found.mapped());
}

Statistics Engine::statistics() const {
  Statistics out = statistics_;
  out.running = static_cast<std::int64_t>(running_.size());
  out.waiting = static_cast<std::int64_t>(waiting_.size());
  out.free_pages = pool_.available();
  return out;
}

void Engine::check() const {
  std::vector<Tokens> holders;
  for (const ActivePtr& r : running_) holders.push_back(r->pages);
  for (const ActivePtr& r : waiting_)
    STRATA_CHECK(r->pages.empty() && r->slot < 0, "a request that waits holds pages");
  pool_.check(holders);
}

/// Gives back pages and slot.
void Engine::let_go(Active& r) {
  pool_.release(r.pages);
  r.pages.clear();
  r.computed = r.kept = 0;
  if (r.slot >= 0) slots_[static_cast<std::size_t>(r.slot)] = false;
  r.slot = -1;
}

void Engine::finish(const ActivePtr& r, End end, std::string error) {
  let_go(*r);
  std::erase(running_, r);
  std::erase(waiting_, r);
  r->ended = true;
  r->output.end = end;
  r->output.error = std::move(error);
  outputs_[r->id] = r->output;
  if (r->request.on_end) events_.emplace_back([r] { r->request.on_end(r->id, r->output); });
}

// ---- a step -------------------------------------------------------------------------------------

/// Pages for so many further tokens; false where there are not enough.
bool Engine::ensure_pages(Active& r, std::int64_t tokens) {
  const std::int64_t needed = (r.computed + tokens + options_.page_size - 1) / options_.page_size;
  while (static_cast<std::int64_t>(r.pages.size()) < needed) {
    const auto page = pool_.take();
    if (!page) return false;
    r.pages.push_back(*page);
  }
  return true;
}

void Engine::preempt(const ActivePtr& r) {
  ++statistics_.preempted;
  let_go(*r);
  std::erase(running_, r);
  waiting_.push_front(r);
}

/// What each running request reads in this step, in the order of admission. Where pages run out the
/// one that came last is put back.
void Engine::take_running(std::vector<Row>& reading, std::vector<Row>& drawing) {
  std::int64_t budget = options_.step_tokens;
  const std::vector<ActivePtr> all = running_;
  for (const ActivePtr& r : all) {
    if (r->slot < 0) continue;  // put back meanwhile
    const bool reads = r->left() > 1;
    // One that reads on gets a token at least, so that each step brings each request forward.
    const std::int64_t tokens =
        reads ? std::min({r->left(), options_.chunk, std::max<std::int64_t>(budget, 1)}) : 1;
    bool has = false;
    while (!(has = ensure_pages(*r, tokens)) && running_.back() != r) preempt(running_.back());
    if (!has) {
      preempt(r);
      break;
    }
    if (reads) budget -= tokens;
    (tokens > 1 ? reading : drawing).push_back({r, tokens});
  }
}

void Engine::admit() {
  while (!waiting_.empty() && static_cast<std::int64_t>(running_.size()) < options_.max_batch) {
    const ActivePtr r = waiting_.front();
    const auto length = static_cast<std::int64_t>(r->known.size());
    const auto [unheld, found] =
        options_.share_beginnings ? pool_.look(r->known) : std::pair<std::int64_t, std::int64_t>();
    // All that is known of it must fit, and the token behind it.
    const std::int64_t needed = length / options_.page_size + 1 - found;
    if (needed > pool_.available() - unheld) return;
    waiting_.pop_front();
    if (options_.share_beginnings) {
      r->pages = pool_.find(r->known);
      r->computed = found * options_.page_size;
      r->kept = found;
      r->output.shared_tokens =
          std::max(r->output.shared_tokens, std::min(r->computed, r->output.prompt_tokens));
    }
    // What is reserved here is not given to the next that waits.
    STRATA_CHECK(ensure_pages(*r, length - r->computed), "pages that were counted are not there");
    const auto slot = std::find(slots_.begin(), slots_.end(), false);
    *slot = true;
    r->slot = slot - slots_.begin();
    if (r->request.sampling.has_penalties())
      program_->begin(r->slot, r->request.tokens,
                      std::span(r->known).subspan(r->request.tokens.size()));
    running_.push_back(r);
  }
}

bool Engine::step() {
  tell();
  const std::int64_t before = statistics_.preempted;
  std::vector<Row> reading, drawing;
  // Who waits comes in before pages are given out, unless the last step had to put someone back.
  if (running_.empty() || !put_back_) admit();
  take_running(reading, drawing);
  put_back_ = statistics_.preempted > before;
  // A request may have been put back by one that stands before it.
  const auto gone = [](const Row& row) { return row.request->slot < 0; };
  std::erase_if(reading, gone);
  std::erase_if(drawing, gone);
  if (reading.empty() && drawing.empty()) return !waiting_.empty();
  ++statistics_.steps;
  if (!reading.empty()) {
    std::int64_t most = 0;
    for (const Row& row : reading) most = std::max(most, row.tokens);
    run(reading, most <= 16 ? std::min<std::int64_t>(16, options_.chunk) : options_.chunk);
  }
  if (!drawing.empty()) run(drawing, 1);
  tell();
  return !running_.empty() || !waiting_.empty();
}

void Engine::warm_up(std::int64_t requests) {
  const std::int64_t most = std::clamp<std::int64_t>(requests, 1, options_.max_batch);
  for (const std::int64_t width : {std::min<std::int64_t>(16, options_.chunk), options_.chunk})
    if (width > 1) run({}, width);
  run({}, 1);
  if (most > 1) run({}, 1, most);
}

/// Runs one program: rows are filled up to a power of two and `least`, tokens to `width`.
void Engine::run(const std::vector<Row>& rows, std::int64_t width, std::int64_t least) {
  ++statistics_.programs;
  const std::int64_t batch = power_of_two(std::max(least, static_cast<std::int64_t>(rows.size())));
  const auto count = static_cast<std::size_t>(batch);
  Tokens tokens(count * static_cast<std::size_t>(width)), first(count), counts(count), slots(count),
      positions(count), table(count * static_cast<std::size_t>(table_width_));
  std::vector<Sampling> sampling(count, Sampling{.temperature = 0});
  for (std::size_t b = 0; b < count; ++b) slots[b] = static_cast<std::int32_t>(options_.max_batch);
  for (std::size_t b = 0; b < rows.size(); ++b) {
    const Active& r = *rows[b].request;
    std::copy_n(r.known.begin() + r.computed, rows[b].tokens,
                tokens.begin() + static_cast<std::ptrdiff_t>(b) * width);
    first[b] = static_cast<std::int32_t>(r.computed);
    counts[b] = static_cast<std::int32_t>(rows[b].tokens);
    std::copy(r.pages.begin(), r.pages.end(),
              table.begin() + static_cast<std::ptrdiff_t>(b) * table_width_);
    if (rows[b].tokens < r.left()) continue;  // nothing is drawn yet
    slots[b] = static_cast<std::int32_t>(r.slot);
    sampling[b] = r.request.sampling;
    positions[b] = static_cast<std::int32_t>(r.request.first_position) +
                   static_cast<std::int32_t>(r.output.tokens.size());
  }
  const model::Batch in{array(tokens, Sizes{batch, width}), array(first), array(counts),
                        array(table, Sizes{batch, table_width_})};
  const Program::Result out = program_->run(in, engine::rows(sampling, positions), array(slots));
  const auto token = out.drawn.token.to_vector<std::int32_t>();
  const auto logprob = out.drawn.logprob.to_vector<float>();
  const auto valid = out.drawn.valid.to_vector<bool>();
  std::optional<Literal> logits;
  if (options_.with_logits) logits = out.logits.literal();
  const auto vocabulary = static_cast<std::size_t>(model_->vocab_size());
  for (std::size_t b = 0; b < rows.size(); ++b)
    advance(rows[b], token[b], logprob[b], valid[b],
            logits ? logits->span<float>().subspan(b * vocabulary, vocabulary)
                   : std::span<const float>());
}

/// Notes what a row has read and drawn.
void Engine::advance(const Row& row, std::int32_t token, float logprob, bool valid,
                     std::span<const float> logits) {
  const ActivePtr& r = row.request;
  statistics_.read += row.tokens;
  const bool draws = row.tokens == r->left();
  r->computed += row.tokens;
  if (draws && !valid)
    return finish(r, End::error,
                  fmt::format("the logits of token {} of the output are not finite",
                              r->output.tokens.size()));
  if (options_.share_beginnings && r->computed / options_.page_size > r->kept) {
    r->kept = r->computed / options_.page_size;
    pool_.keep(r->pages, std::span(r->known).first(static_cast<std::size_t>(r->computed)));
  }
  if (!draws) return;
  ++statistics_.drawn;
  const auto position = static_cast<std::int64_t>(r->output.tokens.size());
  r->known.push_back(token);
  r->output.tokens.push_back(token);
  r->output.logprobs.push_back(logprob);
  if (r->request.on_token)
    events_.emplace_back(
        [r, token, logprob, position, kept = std::vector<float>(logits.begin(), logits.end())] {
          if (!r->ended || r->output.end != End::cancelled)
            r->request.on_token({r->id, token, logprob, position, kept});
        });
  const Tokens& stops = r->request.stop_tokens;
  if (std::find(stops.begin(), stops.end(), token) != stops.end())
    finish(r, End::stop);
  else if (position + 1 >= r->request.max_tokens)
    finish(r, End::max_tokens);
  else if (static_cast<std::int64_t>(r->known.size()) >= options_.max_length)
    finish(r, End::length);
}

/// Calls those who listen. A call that throws is made no second time.
void Engine::tell() {
  while (!events_.empty()) {
    const std::function<void()> call = std::move(events_.front());
    events_.pop_front();
    call();
  }
}

}  // namespace strata::engine
