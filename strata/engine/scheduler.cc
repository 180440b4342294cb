#include "strata/engine/scheduler.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "strata/base/check.h"
#include "strata/base/error.h"

namespace strata::engine {
namespace {

/// How much an output that ends weighs against those before it.
constexpr double kWeight = 0.125;

bool before(const SequencePtr& a, const SequencePtr& b) {
  const auto key = [](const Sequence& s) {
    return std::tuple(s.priority, s.put_back < Scheduler::kPatience, s.id);
  };
  return key(*a) < key(*b);
}

void insert(std::vector<SequencePtr>& list, const SequencePtr& s) {
  list.insert(std::upper_bound(list.begin(), list.end(), s, before), s);
}

}  // namespace

Scheduler::Scheduler(const ScheduleOptions& o)
    : options_(o),
      pool_(o.pages, o.page_size),
      slots_(static_cast<std::size_t>(std::max<std::int64_t>(o.max_batch, 0))) {
  for (const auto& [what, value] :
       {std::pair("max_batch", o.max_batch), {"chunk", o.chunk}, {"step_tokens", o.step_tokens}})
    if (value < 1) throw Error("engine", "{} must be at least 1, got {}", what, value);
  if (!(o.reserve >= 0 && o.reserve <= 1))
    throw Error("engine", "reserve must be in [0, 1], got {}", o.reserve);
}

void Scheduler::add(SequencePtr s) { insert(waiting_, s); }

/// Gives back pages and slot.
void Scheduler::give_back(Sequence& s) {
  // Nothing more is written into its last page: what that holds is for others, too.
  if (options_.share_beginnings && s.computed % options_.page_size > 0)
    pool_.keep(s.pages, std::span(s.known).first(static_cast<std::size_t>(s.computed)), s.salt,
               true);
  pool_.release(s.pages);
  s.pages.clear();
  s.computed = s.kept = 0;
  if (s.slot >= 0) slots_[static_cast<std::size_t>(s.slot)] = false;
  s.slot = -1;
}

void Scheduler::remove(const SequencePtr& s) {
  give_back(*s);
  std::erase(running_, s);
  std::erase(waiting_, s);
  s->ended = true;
  s->after = nullptr;
  if (s->drawn() == 0) return;
  const double off = static_cast<double>(s->drawn()) - usual_;
  usual_ += kWeight * off;
  spread_ += kWeight * (std::abs(off) - spread_);
}

void Scheduler::restart() {
  Plan ignored;
  for (const SequencePtr& s : std::vector<SequencePtr>(running_)) {
    give_back(*s);
    std::erase(running_, s);
    insert(waiting_, s);
  }
  pool_.forget();
}

void Scheduler::clear() {
  for (const SequencePtr& s : running_) give_back(*s);
  running_.clear();
  waiting_.clear();
  pool_ = PagePool(options_.pages, options_.page_size);
}

void Scheduler::read(Sequence& s, std::int64_t tokens) {
  s.computed += tokens;
  STRATA_CHECK(s.computed <= static_cast<std::int64_t>(s.known.size()),
               "a sequence has read more than is known of it");
  if (!options_.share_beginnings || s.computed / options_.page_size <= s.kept) return;
  s.kept = s.computed / options_.page_size;
  pool_.keep(s.pages, std::span(s.known).first(static_cast<std::size_t>(s.computed)), s.salt);
}

// ---- admission ----------------------------------------------------------------------------------

std::int64_t Scheduler::pages_for(std::int64_t tokens) const {
  return (tokens + options_.page_size - 1) / options_.page_size;
}

std::int64_t Scheduler::expected_output() const {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(usual_ + spread_)));
}

/// Pages that a sequence is expected to take beyond those for what is known of it and the token
/// behind that. One longer than expected is taken to be two thirds done.
std::int64_t Scheduler::pages_to_come(const Sequence& s) const {
  const auto length = static_cast<std::int64_t>(s.known.size());
  const std::int64_t more = std::min(
      s.most - length, std::max({expected_output() - s.drawn(), s.drawn() / 2, std::int64_t{1}}));
  const auto whole = static_cast<std::int64_t>(
      std::ceil(options_.reserve * static_cast<double>(std::max<std::int64_t>(more, 1))));
  return pages_for(length + std::max<std::int64_t>(whole, 1)) - (length / options_.page_size + 1);
}

bool Scheduler::fits(const Sequence& s) const {
  const bool shares = options_.share_beginnings && s.reads_cache;
  const auto [unheld, found] =
      shares ? pool_.look(s.known, s.salt) : std::pair<std::int64_t, std::int64_t>();
  // All that is known of it must fit, and the token behind it.
  const std::int64_t now =
      static_cast<std::int64_t>(s.known.size()) / options_.page_size + 1 - found;
  const std::int64_t free = pool_.available() - unheld;
  if (now > free) return false;
  if (running_.empty() || options_.reserve == 0) return true;
  std::int64_t later = pages_to_come(s);
  for (const SequencePtr& r : running_)
    later += std::max<std::int64_t>(
        0, static_cast<std::int64_t>(r->known.size()) / options_.page_size + 1 + pages_to_come(*r) -
               static_cast<std::int64_t>(r->pages.size()));
  return now + later <= free;
}

void Scheduler::let_in(const SequencePtr& s, Plan& plan) {
  const bool shares = options_.share_beginnings && s->reads_cache;
  if (shares) {
    s->pages = pool_.find(s->known, s->salt);
    s->kept = static_cast<std::int64_t>(s->pages.size());
    s->computed = s->kept * options_.page_size;
  }
  // What is reserved here is not given to the next that waits.
  STRATA_CHECK(ensure_pages(*s, s->left()), "pages that were counted are not there");
  if (shares) {
    const auto whole = static_cast<std::size_t>(s->kept);
    const auto part = options_.copy_parts
                          ? pool_.find_part(std::span(s->pages).first(whole), s->known, s->salt)
                          : std::nullopt;
    if (part) {
      pool_.hold(part->page);  // until the plan is made
      plan.copies.push_back({s, part->page, s->pages[whole]});
      s->computed += part->tokens;
    }
    const std::int64_t found = std::min(s->computed, s->prompt);
    s->found = std::max(s->found, found);
    if (s->put_back == 0) {
      queried_ += s->prompt;
      hits_ += found;
    }
  }
  const auto slot = std::find(slots_.begin(), slots_.end(), false);
  *slot = true;
  s->slot = slot - slots_.begin();
  std::erase(waiting_, s);
  insert(running_, s);
}

void Scheduler::admit(Plan& plan) {
  for (const SequencePtr& s : std::vector<SequencePtr>(waiting_)) {
    if (static_cast<std::int64_t>(running_.size()) >= options_.max_batch) return;
    // One that waits for another's prompt lets others pass; one that does not fit lets none, or
    // long ones would wait for ever.
    const Sequence* other = s->after.get();
    if (other != nullptr && !other->ended && other->computed < other->prompt) continue;
    s->after = nullptr;
    if (!fits(*s)) return;
    let_in(s, plan);
    plan.let_in.push_back(s);
  }
}

// ---- a step -------------------------------------------------------------------------------------

/// Pages for so many further tokens; false where there are not enough.
bool Scheduler::ensure_pages(Sequence& s, std::int64_t tokens) {
  const std::int64_t needed = pages_for(s.computed + tokens);
  while (static_cast<std::int64_t>(s.pages.size()) < needed) {
    const auto page = pool_.take();
    if (!page) return false;
    s.pages.push_back(*page);
  }
  return true;
}

void Scheduler::put_back(const SequencePtr& s, Plan& plan) {
  ++put_back_;
  give_back(*s);
  std::erase(running_, s);
  ++s->put_back;
  insert(waiting_, s);
  plan.were_back.push_back(s);
}

/// Pages for so many further tokens; the last in order are put back for them, at the end the
/// sequence itself: false.
bool Scheduler::make_room(const SequencePtr& s, std::int64_t tokens, Plan& plan) {
  while (!ensure_pages(*s, tokens)) {
    const SequencePtr last = running_.back();
    put_back(last, plan);
    if (last == s) return false;
  }
  return true;
}

Plan Scheduler::plan() {
  Plan plan;
  // Who waits comes in before pages are given out, unless the last step had to put one back.
  if (running_.empty() || !was_short_) admit(plan);
  std::int64_t budget = options_.step_tokens;
  std::vector<Planned> prompts, draws;
  const std::vector<SequencePtr> all = running_;
  for (const SequencePtr& s : all) {
    if (s->slot < 0 || s->left() > 1 || !make_room(s, 1, plan)) continue;
    draws.push_back({s, 1, 0});
    --budget;
  }
  bool first = true;
  for (const SequencePtr& s : all) {
    if (s->slot < 0 || s->left() <= 1) continue;
    // The first one gets a token at least, so that each step brings some prompt forward.
    const std::int64_t tokens =
        std::min({s->left(), options_.chunk, std::max<std::int64_t>(budget, first ? 1 : 0)});
    if (tokens < 1) break;
    first = false;
    if (!make_room(s, tokens, plan)) continue;
    prompts.push_back({s, tokens, 0});
    budget -= tokens;
  }
  // Guesses put nobody back.
  for (Planned& row : draws) {
    const Sequence& s = *row.sequence;
    if (s.slot < 0 || budget < 1) continue;
    const std::int64_t room = s.most - static_cast<std::int64_t>(s.known.size()) - 1;
    const std::int64_t wanted = std::min({s.guesses, budget, room});
    while (row.guesses < wanted && ensure_pages(*row.sequence, row.guesses + 2)) ++row.guesses;
    budget -= row.guesses;
  }
  for (std::vector<Planned>* rows : {&draws, &prompts})
    for (Planned& row : *rows)
      // One that was planned may have been put back for another.
      if (row.sequence->slot >= 0) plan.rows.push_back(std::move(row));
  for (const PageCopy& copy : plan.copies) pool_.release(std::span(&copy.from, 1));
  std::erase_if(plan.copies, [](const PageCopy& c) { return c.sequence->slot < 0; });
  was_short_ = !plan.were_back.empty();
  std::erase_if(plan.let_in, [](const SequencePtr& s) { return s->slot < 0; });
  return plan;
}

void Scheduler::check() const {
  std::vector<std::vector<std::int32_t>> holders;
  std::int64_t slots = 0;
  for (const SequencePtr& s : running_) {
    holders.push_back(s->pages);
    STRATA_CHECK(s->slot >= 0 && slots_[static_cast<std::size_t>(s->slot)],
                 "a running request has no slot");
    STRATA_CHECK(s->computed <= static_cast<std::int64_t>(s->pages.size()) * options_.page_size,
                 "a request has read more than its pages hold");
  }
  for (bool used : slots_) slots += used;
  STRATA_CHECK(slots == static_cast<std::int64_t>(running_.size()), "a slot is lost");
  for (const SequencePtr& s : waiting_)
    STRATA_CHECK(s->pages.empty() && s->slot < 0, "a request that waits holds pages");
  pool_.check(holders);
}

}  // namespace strata::engine
