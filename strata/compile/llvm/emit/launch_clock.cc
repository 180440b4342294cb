#include "strata/compile/llvm/emit/launch_clock.h"

#include <chrono>

#include "strata/compile/llvm/runtime_symbols.h"

namespace strata::compile {
namespace {

thread_local LaunchClock* current = nullptr;

std::int64_t now_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void begin_launch(std::int64_t launch) { current->begin(launch); }
void end_launch(std::int64_t launch) { current->end(launch); }

}  // namespace

LaunchClock::LaunchClock(runtime::LaunchTimes* times) : times_(times), outer_(current) {
  current = this;
}
LaunchClock::~LaunchClock() { current = outer_; }

void LaunchClock::begin(std::int64_t) {
  if (times_) began_ns_ = now_ns();
}

void LaunchClock::end(std::int64_t launch) {
  if (!times_) return;
  const std::int64_t ended_ns = now_ns();
  if (times_->spans.size() < runtime::LaunchTimes::kMostSpans)
    times_->spans.push_back({static_cast<int>(launch), began_ns_, ended_ns});
  if (times_->totals.size() <= static_cast<std::size_t>(launch))
    times_->totals.resize(static_cast<std::size_t>(launch) + 1);
  auto& total = times_->totals[static_cast<std::size_t>(launch)];
  ++total.runs;
  total.ns += ended_ns - began_ns_;
}

void register_launch_clock() {
  add_runtime_symbol("strata_profile_begin", reinterpret_cast<void*>(&begin_launch));
  add_runtime_symbol("strata_profile_end", reinterpret_cast<void*>(&end_launch));
}

}  // namespace strata::compile
