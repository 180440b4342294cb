#include "strata/base/stage_times.h"

#include <time.h>

#include <atomic>

#include "strata/base/check.h"

namespace strata {
namespace {

std::atomic<StageTimes*> current{nullptr};

}  // namespace

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

StageTimes::StageTimes() {
  STRATA_CHECK(current.exchange(this) == nullptr, "two count the stages of compiling");
}
StageTimes::~StageTimes() { current = nullptr; }

std::vector<StageTimes::Row> StageTimes::rows() const {
  std::lock_guard lock(mutex_);
  return rows_;
}

std::size_t StageTimes::row(std::string_view name) {
  std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].name == name) return i;
  rows_.push_back({std::string(name)});
  return rows_.size() - 1;
}

Stage::Stage(std::string_view name) : times_(current) {
  if (!times_) return;
  row_ = times_->row(name);
  began_ = thread_seconds();
}

Stage::~Stage() {
  if (!times_) return;
  double seconds = thread_seconds() - began_;
  std::lock_guard lock(times_->mutex_);
  times_->rows_[row_].seconds += seconds;
  ++times_->rows_[row_].times;
}

}  // namespace strata
