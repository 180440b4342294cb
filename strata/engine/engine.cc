#include "strata/engine/engine.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/base/check.h"
#include "strata/base/error.h"
#include "strata/model/decoder/model.h"

namespace strata::engine {
namespace {

using Tokens = std::vector<std::int32_t>;

constexpr float kNever = -std::numeric_limits<float>::infinity();

std::int64_t power_of_two(std::int64_t least) {
  std::int64_t out = 1;
  while (out < least) out *= 2;
  return out;
}

/// Whether a page holds what a sequence came to, which cannot be taken back by some tokens.
bool holds_states(const model::Model& model, std::int64_t page_size) {
  return model::decoder::hold_states(model.init_pages(1, page_size));
}

Options checked(Options o, const model::Model& model) {
  if (o.pages < 1 || o.page_size < 1)
    throw Error("engine", "pages must be at least 1, and page_size too, got {} and {}", o.pages,
                o.page_size);
  if (o.max_length < 0 || o.vocabulary < 0 || o.vocabulary > model.vocab_size())
    throw Error("engine", "max_length={} must not be negative, vocabulary={} in [0, {}]",
                o.max_length, o.vocabulary, model.vocab_size());
  if (o.max_logprobs < -1)
    throw Error("engine", "max_logprobs must be -1 or more, got {}", o.max_logprobs);
  check(o.speculation, model.vocab_size());
  if (o.speculation.method != Speculation::Method::none && holds_states(model, o.page_size))
    throw Error("engine", "{} guesses no tokens ahead: its pages hold states, not tokens",
                model.family())
        .unsupported();
  const std::int64_t fit = o.pages * o.page_size;
  o.max_length = o.max_length == 0 ? fit : std::min(o.max_length, fit);
  if (o.vocabulary == 0) o.vocabulary = model.vocab_size();
  return o;
}

ScheduleOptions schedule_of(const Options& o, const model::Model& model) {
  return {.pages = o.pages,
          .page_size = o.page_size,
          .max_batch = o.max_batch,
          .chunk = o.chunk,
          .step_tokens = o.step_tokens,
          .share_beginnings = o.share_beginnings,
          .copy_parts = !holds_states(model, o.page_size),
          .reserve = o.reserve};
}

}  // namespace

/// A request that has not ended.
struct Engine::Active : Sequence {
  Request request;
  Output output;
  std::int64_t trust = 0;               // guesses that it gets
  std::vector<float> bias;              // what `shape` made
  std::optional<ChainSampler> sampler;  // where the request has a chain

  std::span<const std::int32_t> drawn_tokens() const { return output.tokens; }
  /// Whether log-probabilities beside the drawn token's are asked for.
  bool wants_table() const { return request.logprobs || !request.logprob_tokens.empty(); }
  /// Whether tokens of the prompt still need theirs.
  bool wants_scores() const { return request.prompt_logprobs && computed < prompt; }
};

/// What was drawn behind a token.
struct Engine::Told {
  std::int32_t token;
  float logprob;
  bool valid;
  bool barred = false;                   // no token may come there
  std::span<const float> logits, table;  // (V)
  std::vector<float> own_table = {};     // (V): what a chain says in place of `table`
};

Engine::Engine(model::ModelPtr model, const tree::Tree& params, const Options& options)
    : model_(std::move(model)),
      options_(checked(options, *model_)),
      table_width_((options_.max_length + options_.page_size - 1) / options_.page_size),
      scheduler_(schedule_of(options_, *model_)),
      noise_(compiled_noise(model_->vocab_size())) {
  program_ = std::make_unique<Program>(model_, params,
                                       Program::Shape{.pages = options_.pages,
                                                      .page_size = options_.page_size,
                                                      .slots = options_.max_batch,
                                                      .vocabulary = options_.vocabulary,
                                                      .pages_dtype = options_.pages_dtype});
  drafter_ = make_drafter(options_.speculation, {.max_length = options_.max_length,
                                                 .max_batch = options_.max_batch,
                                                 .vocabulary = options_.vocabulary});
  statistics_.accepted_at.resize(drafter_ ? static_cast<std::size_t>(options_.speculation.tokens)
                                          : 0);
}

Engine::~Engine() = default;

// ---- requests -----------------------------------------------------------------------------------

void Engine::check(const Request& request) const {
  engine::check(request.sampling, model_->vocab_size());
  const auto length = static_cast<std::int64_t>(request.tokens.size());
  if (length < 1) throw Error("engine", "a request needs one token at least");
  if (length >= options_.max_length)
    throw Error("engine", "a prompt of {} tokens leaves no room below max_length={}", length,
                options_.max_length);
  if (request.max_tokens < 1)
    throw Error("engine", "max_tokens must be at least 1, got {}", request.max_tokens);
  if (request.sampling.min_tokens > request.max_tokens)
    throw Error("engine", "min_tokens={} must be at most max_tokens={}",
                request.sampling.min_tokens, request.max_tokens);
  for (const Tokens* list : {&request.tokens, &request.stop_tokens, &request.logprob_tokens})
    for (std::int32_t t : *list)
      if (t < 0 || t >= model_->vocab_size())
        throw Error("engine", "token {} is not in [0, {})", t, model_->vocab_size());
  if (request.first_position < 0 ||
      request.first_position > std::numeric_limits<std::int32_t>::max() - (1 << 30))
    throw Error("engine", "first_position={} must be in [0, 2^30)", request.first_position);
  for (const auto& [what, most] :
       {std::pair("logprobs", request.logprobs), {"prompt_logprobs", request.prompt_logprobs}}) {
    if (!most || options_.max_logprobs == -1) continue;
    if (*most < 0 || *most > options_.max_logprobs)
      throw Error("engine", "{} must be in [0, {}], got {}", what, options_.max_logprobs, *most);
  }
  constexpr std::size_t kAsked = 128;
  if (request.logprob_tokens.size() > kAsked)
    throw Error("engine", "logprob_tokens must be at most {}, got {}", kAsked,
                request.logprob_tokens.size());
  if (request.repetition_detection) engine::check(*request.repetition_detection);
}

Id Engine::submit(Request request) {
  check(request);
  auto active = std::make_shared<Active>();
  active->id = ++last_;
  active->priority = request.priority;
  active->known = request.tokens;
  active->prompt = static_cast<std::int64_t>(request.tokens.size());
  active->most = std::min(active->prompt + request.max_tokens, options_.max_length);
  active->salt = request.salt;
  active->reads_cache = !request.prompt_logprobs;
  const bool guessable = request.speculate && (!request.shape || request.shape_takes_guesses);
  active->trust = drafter_ && guessable ? options_.speculation.tokens : 0;
  active->output.prompt_tokens = active->prompt;
  active->output.times.queued = now();
  if (request.prompt_logprobs) active->output.prompt_logprobs.resize(request.tokens.size() - 1);
  if (request.sampling.chain)
    active->sampler.emplace(request.sampling, request.tokens, options_.vocabulary, noise_);
  active->request = std::move(request);
  active_[active->id] = active;
  scheduler_.add(active);
  return active->id;
}

std::vector<Id> Engine::submit(const Request& request, std::int64_t samples) {
  if (samples < 1) throw Error("engine", "samples must be at least 1, got {}", samples);
  return submit(std::vector<Request>(static_cast<std::size_t>(samples), request));
}

std::vector<Id> Engine::submit(std::vector<Request> samples) {
  std::vector<Id> ids;
  for (Request& one : samples) {
    const auto number = static_cast<std::int64_t>(ids.size());
    one.sampling.seed = seed_of_sample(one.sampling.seed, number);
    if (number > 0) one.prompt_logprobs.reset();  // those of the first are theirs too
    ids.push_back(submit(std::move(one)));
    if (number > 0 && options_.share_beginnings) active_[ids.back()]->after = active_[ids[0]];
  }
  return ids;
}

bool Engine::cancel(Id id) {
  const auto it = active_.find(id);
  if (it == active_.end()) return false;
  finish(ActivePtr(it->second), End::cancelled);
  return true;
}

void Engine::reset() {
  for (const auto& [id, r] : active_) {
    scheduler_.remove(r);
    if (drafter_) drafter_->ended(guess_of(*r));
  }
  active_.clear();
  outputs_.clear();
  events_.clear();
}

void Engine::set_params(const tree::Tree& params) {
  program_->set_params(params);
  scheduler_.restart();
  identity_.clear();
}

// ---- parking ------------------------------------------------------------------------------------

const std::string& Engine::identity() {
  if (identity_.empty())
    identity_ = fmt::format("{} of {} tokens a page", program_->identity(), options_.page_size);
  return identity_;
}

std::optional<Parked> Engine::park(std::span<const std::int32_t> tokens, std::string_view salt) {
  const Tokens pages = scheduler_.pool().holding(tokens, salt);
  if (pages.empty()) return std::nullopt;
  const std::size_t length = pages.size() * static_cast<std::size_t>(options_.page_size);
  return Parked{
      .identity = identity(),
      .salt = std::string(salt),
      .tokens = Tokens(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(length)),
      .contents = program_->read_pages(pages)};
}

std::int64_t Engine::resume(const Parked& parked) {
  if (parked.identity != identity())
    throw Error("engine", "pages of {} are of no use to {}", parked.identity, identity());
  const auto size = static_cast<std::size_t>(options_.page_size);
  const std::size_t whole = parked.tokens.size() / size;
  if (parked.tokens.size() % size != 0)
    throw Error("engine", "{} parked tokens are no whole pages of {}", parked.tokens.size(), size);
  for (std::int32_t t : parked.tokens)
    if (t < 0 || t >= model_->vocab_size())
      throw Error("engine", "token {} is not in [0, {})", t, model_->vocab_size());
  program_->check_pages(static_cast<std::int64_t>(whole), parked.contents);
  PagePool& pool = scheduler_.pool();
  // Those that are there are held, so that they are not given away here. `find` leaves a token.
  Tokens asked = parked.tokens;
  asked.push_back(0);
  Tokens pages = pool.find(asked, parked.salt);
  const std::size_t there = pages.size();
  while (pages.size() < whole) {
    const auto page = pool.take();
    if (!page) break;
    pages.push_back(*page);
  }
  const std::size_t length = pages.size() * size;
  if (pages.size() > there)
    program_->write_pages(std::span(pages).subspan(there), parked.contents,
                          static_cast<std::int64_t>(there));
  pool.keep(pages, std::span(parked.tokens).first(length), parked.salt);
  pool.release(pages);
  return static_cast<std::int64_t>(length);
}

Output Engine::take(Id id) {
  auto found = outputs_.extract(id);
  if (found.empty()) throw Error("engine", "there is no request {} that has ended", id);
  return std::move(found.mapped());
}

Statistics Engine::statistics() const {
  Statistics out = statistics_;
  const PagePool& pool = scheduler_.pool();
  out.running = static_cast<std::int64_t>(scheduler_.running().size());
  out.waiting = static_cast<std::int64_t>(scheduler_.waiting().size());
  out.free_pages = pool.available();
  out.pages = pool.pages();
  out.used_pages = out.pages - out.free_pages;
  out.known_pages = pool.known();
  out.evicted_pages = pool.evicted();
  for (const SequencePtr& s : scheduler_.waiting())
    out.waiting_tokens += static_cast<std::int64_t>(s->known.size());
  out.prefix_queries = scheduler_.queried();
  out.prefix_hits = scheduler_.hits();
  out.preempted = scheduler_.times_put_back();
  out.expected_output = static_cast<double>(scheduler_.expected_output());
  return out;
}

void Engine::check() const { scheduler_.check(); }

void Engine::finish(const ActivePtr& r, End end, std::string error) {
  scheduler_.remove(r);
  active_.erase(r->id);
  if (drafter_) drafter_->ended(guess_of(*r));
  ++statistics_.ended[static_cast<std::size_t>(end)];
  r->output.end = end;
  r->output.error = std::move(error);
  r->output.shared_tokens = r->found;
  r->output.preempted = r->put_back;
  outputs_[r->id] = r->output;
  if (r->request.on_end) events_.emplace_back([r] { r->request.on_end(r->id, r->output); });
}

Clock::time_point Engine::now() const { return options_.now ? options_.now() : Clock::now(); }

/// Ends those whose deadline has passed.
void Engine::expire() {
  std::vector<ActivePtr> late;
  std::optional<Clock::time_point> time;
  for (const auto& [id, r] : active_) {
    if (!r->request.deadline) continue;
    if (!time) time = now();
    if (*r->request.deadline <= *time) late.push_back(r);
  }
  for (const ActivePtr& r : late) finish(r, End::deadline);
}

// ---- a step -------------------------------------------------------------------------------------

Guess Engine::guess_of(const Active& r) const {
  return {.id = r.id,
          .known = r.known,
          .prompt = r.prompt,
          .position = r.request.first_position + static_cast<std::int64_t>(r.output.tokens.size()),
          .sampling = &r.request.sampling,
          .stop_tokens = r.request.stop_tokens,
          .salt = r.salt};
}

std::vector<Engine::Row> Engine::rows_of(const Plan& plan) {
  std::vector<Row> rows;
  std::vector<Guess> wanted;
  std::vector<std::size_t> of;
  for (const Planned& p : plan.rows) {
    rows.push_back({std::static_pointer_cast<Active>(p.sequence), p.tokens});
    if (p.guesses == 0) continue;
    wanted.push_back(guess_of(*rows.back().request));
    wanted.back().most = p.guesses;
    of.push_back(rows.size() - 1);
  }
  if (!wanted.empty()) drafter_->guess(wanted);
  const auto known = [&](std::int32_t t) { return t >= 0 && t < options_.vocabulary; };
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Tokens& guesses = wanted[i].tokens;
    guesses.resize(std::min(guesses.size(), static_cast<std::size_t>(wanted[i].most)));
    guesses.erase(std::find_if_not(guesses.begin(), guesses.end(), known), guesses.end());
    rows[of[i]].guesses = std::move(guesses);
  }
  return rows;
}

bool Engine::step() {
  tell();
  expire();
  for (const SequencePtr& s : scheduler_.running()) {
    Active& r = static_cast<Active&>(*s);
    r.guesses = r.wants_scores() ? 0 : r.trust;
  }
  const Plan plan = scheduler_.plan();
  for (const SequencePtr& s : plan.let_in) {
    Active& r = static_cast<Active&>(*s);
    if (!r.output.times.scheduled) r.output.times.scheduled = now();
    r.bias.clear();
    if (r.request.sampling.has_penalties())
      program_->begin(r.slot, r.request.tokens, r.drawn_tokens());
  }
  try {
    for (const PageCopy& copy : plan.copies) program_->copy_page(copy.from, copy.to);
  } catch (...) {
    lose_all();
    throw;
  }
  if (plan.rows.empty()) {
    tell();
    return !active_.empty();
  }
  ++statistics_.steps;
  // Rows by what is wanted of them, and how many tokens the longest has.
  std::vector<Row> reading, scoring, drawing;
  std::int64_t longest = 0, longest_scoring = 0, guesses = 0;
  for (Row& row : rows_of(plan)) {
    guesses = std::max(guesses, static_cast<std::int64_t>(row.guesses.size()));
    if (row.request->wants_scores()) {
      longest_scoring = std::max(longest_scoring, row.tokens);
      scoring.push_back(std::move(row));
    } else if (row.tokens > 1) {
      longest = std::max(longest, row.tokens);
      reading.push_back(std::move(row));
    } else {
      drawing.push_back(std::move(row));
    }
  }
  const auto width = [&](std::int64_t tokens) {
    return tokens <= 16 ? std::min<std::int64_t>(16, options_.chunk) : options_.chunk;
  };
  if (!scoring.empty()) run(scoring, Program::Draws::last_with_scores, width(longest_scoring));
  if (!reading.empty()) run(reading, Program::Draws::last, width(longest));
  if (!drawing.empty() && guesses == 0) run(drawing, Program::Draws::last, 1);
  if (!drawing.empty() && guesses > 0)
    run(drawing, Program::Draws::all, guesses == 1 ? 2 : options_.speculation.tokens + 1);
  tell();
  return !active_.empty();
}

void Engine::warm_up(std::int64_t requests) {
  const std::int64_t most = std::clamp<std::int64_t>(requests, 1, options_.max_batch);
  for (const std::int64_t width : {std::min<std::int64_t>(16, options_.chunk), options_.chunk})
    if (width > 1) run({}, Program::Draws::last, width);
  run({}, Program::Draws::last, 1);
  if (most > 1) run({}, Program::Draws::last, 1, most);
  if (!drafter_) return;
  // The widths that `step` uses: of one guess, and of all that there may be.
  for (const std::int64_t width : std::set<std::int64_t>{2, options_.speculation.tokens + 1})
    for (const std::int64_t rows : std::set<std::int64_t>{1, most})
      run({}, Program::Draws::all, width, rows);
}

/// Begins anew where a program threw.
void Engine::lose_all() {
  reset();
  scheduler_.clear();
  program_->clear();
}

/// Runs one program: rows are filled up to a power of two and `least`, tokens to `width`.
void Engine::run(const std::vector<Row>& rows, Program::Draws draws, std::int64_t width,
                 std::int64_t least) {
  ++statistics_.programs;
  const std::int64_t batch = power_of_two(std::max(least, static_cast<std::int64_t>(rows.size())));
  const auto count = static_cast<std::size_t>(batch), steps = static_cast<std::size_t>(width);
  // Tokens that are drawn for a row, at most.
  const std::size_t each = draws == Program::Draws::all ? steps : 1;
  const auto vocabulary = static_cast<std::size_t>(model_->vocab_size());
  Tokens tokens(count * steps), first(count), counts(count), slots(count), positions(count * each),
      table(count * static_cast<std::size_t>(table_width_));
  static const Sampling kIdle{.temperature = 0};
  std::vector<const Sampling*> sampling(count * each, &kIdle);
  std::vector<float> bias;
  bool with_table = false, with_logits = options_.with_logits;
  for (std::size_t b = 0; b < count; ++b) slots[b] = static_cast<std::int32_t>(options_.max_batch);
  for (std::size_t b = 0; b < rows.size(); ++b) {
    Active& r = *rows[b].request;
    const auto to = tokens.begin() + static_cast<std::ptrdiff_t>(b * steps);
    std::copy_n(r.known.begin() + r.computed, rows[b].tokens, to);
    std::copy(rows[b].guesses.begin(), rows[b].guesses.end(), to + rows[b].tokens);
    first[b] = static_cast<std::int32_t>(r.computed);
    counts[b] = static_cast<std::int32_t>(rows[b].tokens) +
                static_cast<std::int32_t>(rows[b].guesses.size());
    std::copy(r.pages.begin(), r.pages.end(),
              table.begin() + static_cast<std::ptrdiff_t>(b) * table_width_);
    if (rows[b].tokens < r.left()) continue;  // nothing is drawn yet
    slots[b] = static_cast<std::int32_t>(r.slot);
    with_table = with_table || r.wants_table();
    with_logits = with_logits || r.request.with_logits || r.sampler;
    Tokens output = r.output.tokens;
    for (std::size_t s = 0; s <= rows[b].guesses.size(); ++s) {
      if (s > 0) output.push_back(rows[b].guesses[s - 1]);
      const std::size_t at = b * each + s;
      if (!r.sampler) sampling[at] = &r.request.sampling;  // else the host draws
      positions[at] = static_cast<std::int32_t>(r.request.first_position) +
                      static_cast<std::int32_t>(output.size());
      if (!r.request.shape &&
          !has_bias(r.request.sampling, static_cast<std::int64_t>(output.size())))
        continue;
      bias.resize(count * each * vocabulary);
      const std::span<float> row = std::span(bias).subspan(at * vocabulary, vocabulary);
      if (r.request.shape) {
        r.bias.resize(vocabulary);
        r.request.shape(output, r.bias);
        std::copy(r.bias.begin(), r.bias.end(), row.begin());
      }
      add_bias(r.request.sampling, output, r.request.stop_tokens, row);
    }
  }
  const model::Batch in{array(tokens, Sizes{batch, width}), array(first), array(counts),
                        array(table, Sizes{batch, table_width_})};
  engine::Rows how = engine::rows(sampling, positions);
  if (!bias.empty())
    how.bias = array(bias, Sizes{static_cast<std::int64_t>(count * each), model_->vocab_size()});
  Program::Result out;
  try {
    out = program_->run(draws, with_table, in, how, array(slots));
  } catch (...) {
    lose_all();
    throw;
  }
  const auto token = out.drawn.token.to_vector<std::int32_t>();
  const auto logprob = out.drawn.logprob.to_vector<float>();
  const auto valid = out.drawn.valid.to_vector<bool>();
  std::optional<Literal> logits, all, scores;
  if (with_logits) logits = out.logits.literal();
  if (with_table) all = out.table.literal();
  if (draws == Program::Draws::last_with_scores) scores = out.scores.literal();
  const auto row_of = [&](const std::optional<Literal>& from, std::size_t at) {
    return from ? from->span<float>().subspan(at * vocabulary, vocabulary)
                : std::span<const float>();
  };
  for (std::size_t b = 0; b < rows.size(); ++b) {
    if (scores)
      note_prompt(rows[b],
                  scores->span<float>().subspan(b * steps * vocabulary, steps * vocabulary));
    std::vector<Told> told;
    for (std::size_t s = 0; s <= rows[b].guesses.size(); ++s) {
      const std::size_t at = b * each + s;
      const auto barred = [&] {
        const auto row = std::span(bias).subspan(at * vocabulary, vocabulary);
        return std::all_of(row.begin(), row.end(), [](float x) { return x == kNever; });
      };
      told.push_back({token[at], logprob[at], valid[at], !bias.empty() && barred(),
                      options_.with_logits || rows[b].request->request.with_logits
                          ? row_of(logits, at)
                          : std::span<const float>(),
                      row_of(all, at)});
    }
    if (rows[b].request->sampler && !told.empty() && rows[b].tokens == rows[b].request->left()) {
      const auto part = [&](std::span<const float> from) {
        return from.empty() ? from : from.subspan(b * each * vocabulary, each * vocabulary);
      };
      choose(rows[b], part(logits->span<float>()), part(bias), told);
    }
    advance(rows[b], told);
  }
}

/// Notes log-probabilities of the prompt's tokens behind those that a row has read: (S, V).
void Engine::note_prompt(const Row& row, std::span<const float> scores) {
  Active& r = *row.request;
  const auto vocabulary = static_cast<std::size_t>(model_->vocab_size());
  for (std::int64_t s = 0; s < row.tokens && r.computed + s + 1 < r.prompt; ++s) {
    const auto at = static_cast<std::size_t>(r.computed + s);
    const auto all = scores.subspan(static_cast<std::size_t>(s) * vocabulary, vocabulary);
    const std::int32_t token = r.known[at + 1];
    r.output.prompt_logprobs[at] = {
        token, all[static_cast<std::size_t>(token)],
        likeliest(all, token, *r.request.prompt_logprobs, r.request.logprob_tokens)};
  }
}

/// Draws by the chain of a row's request: behind its last known token, and behind its guesses as
/// long as they are right. `logits` and `bias` (or none) are of all these places, (S, V).
void Engine::choose(const Row& row, std::span<const float> logits, std::span<const float> bias,
                    std::vector<Told>& told) {
  Active& r = *row.request;
  const auto vocabulary = static_cast<std::size_t>(model_->vocab_size());
  Tokens output = r.output.tokens;
  for (std::size_t s = 0; s < told.size() && told[s].valid; ++s) {
    const auto part = [&](std::span<const float> all) {
      return all.empty() ? all : all.subspan(s * vocabulary, vocabulary);
    };
    Chosen chosen = r.sampler->draw(
        part(logits), part(bias), output,
        r.request.first_position + static_cast<std::int64_t>(output.size()), r.wants_table());
    told[s].token = chosen.token, told[s].logprob = chosen.logprob;
    told[s].own_table = std::move(chosen.table);
    if (!told[s].own_table.empty()) told[s].table = told[s].own_table;
    if (s >= row.guesses.size() || chosen.token != row.guesses[s]) return;
    output.push_back(chosen.token);
  }
}

/// Notes what a row has read, and what was drawn behind its last known token and its guesses.
void Engine::advance(const Row& row, std::span<const Told> told) {
  const ActivePtr& r = row.request;
  const bool draws = row.tokens == r->left();
  const auto guessed = static_cast<std::int64_t>(row.guesses.size());
  statistics_.read += row.tokens + guessed;
  // What it has read here is not for others either.
  if (draws && !told[0].valid)
    return finish(
        r, End::error,
        told[0].barred
            ? fmt::format("no token may be token {} of the output", r->output.tokens.size())
            : fmt::format("the logits of token {} of the output are not finite",
                          r->output.tokens.size()));
  scheduler_.read(*r, row.tokens);
  if (!draws) return;
  std::int64_t right = 0;
  while (right < guessed && told[static_cast<std::size_t>(right)].token ==
                                row.guesses[static_cast<std::size_t>(right)])
    ++right;
  if (guessed > 0) {
    ++statistics_.guesses;
    statistics_.guessed += guessed, statistics_.accepted += right;
    r->output.guessed += guessed, r->output.accepted += right;
    for (std::int64_t i = 0; i < right; ++i) ++statistics_.accepted_at[static_cast<std::size_t>(i)];
    r->trust = right == guessed ? std::min(options_.speculation.tokens, 2 * r->trust)
                                : std::max<std::int64_t>(1, right + 1);
  }
  for (std::int64_t i = 0; i <= right; ++i) {
    // What is behind a guess is read already.
    if (i > 0) scheduler_.read(*r, 1);
    const Told& t = told[static_cast<std::size_t>(i)];
    if (!t.valid)
      return finish(
          r, End::error,
          t.barred ? fmt::format("no token may be token {} of the output", r->output.tokens.size())
                   : fmt::format("the logits of token {} of the output are not finite",
                                 r->output.tokens.size()));
    if (!add_token(r, t)) return;
  }
}

/// Adds a token to the output; false where that ends it.
bool Engine::add_token(const ActivePtr& r, const Told& t) {
  ++statistics_.drawn;
  const auto position = static_cast<std::int64_t>(r->output.tokens.size());
  r->known.push_back(t.token);
  r->output.tokens.push_back(t.token);
  r->output.logprobs.push_back(t.logprob);
  r->output.times.last_token = now();
  if (position == 0) r->output.times.first_token = r->output.times.last_token;
  TokenLogprobs others;
  if (r->wants_table()) {
    others =
        likeliest(t.table, t.token, r->request.logprobs.value_or(0), r->request.logprob_tokens);
    r->output.others.push_back(others);
  }
  if (r->request.on_token)
    events_.emplace_back([r, token = t.token, logprob = t.logprob, position,
                          others = std::move(others),
                          kept = std::vector<float>(t.logits.begin(), t.logits.end())] {
      if (!r->ended || r->output.end != End::cancelled)
        r->request.on_token({r->id, token, logprob, position, kept, others});
    });
  const Tokens& stops = r->request.stop_tokens;
  const auto drawn = position + 1;
  if (std::find(stops.begin(), stops.end(), t.token) != stops.end())
    finish(r, End::stop);
  else if (drawn >= r->request.max_tokens)
    finish(r, End::max_tokens);
  else if (static_cast<std::int64_t>(r->known.size()) >= options_.max_length)
    finish(r, End::length);
  else if (r->request.repetition_detection && drawn > r->request.sampling.min_tokens &&
           repeats(r->output.tokens, *r->request.repetition_detection))
    finish(r, End::repetition);
  return !r->ended;
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
