// Where the time of compiling goes: what `strata-run --time-passes` prints.
//
//   StageTimes times;                   // from here on stages are counted, on all threads
//   ... compile ...
//   for (const StageTimes::Row& row : times.rows()) ...
//
//   Stage stage("fuse");                // in the compiler: until the end of the scope; costs a
//   load where nobody counts
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// Counts the stages of the process while it lives; one at a time.
class StageTimes {
 public:
  /// Seconds of the processor, of all threads together; a stage within another counts for both.
  struct Row {
    std::string name;
    double seconds = 0;
    std::int64_t times = 0;
  };
  StageTimes();
  ~StageTimes();
  StageTimes(const StageTimes&) = delete;
  StageTimes& operator=(const StageTimes&) = delete;
  /// In the order in which they first began.
  std::vector<Row> rows() const;

 private:
  friend class Stage;
  std::size_t row(std::string_view name);
  mutable std::mutex mutex_;
  std::vector<Row> rows_;
};

/// Seconds of the processor that this thread has taken.
double thread_seconds();

class Stage {
 public:
  explicit Stage(std::string_view name);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

 private:
  StageTimes* times_;
  std::size_t row_ = 0;
  double began_ = 0;
};

}  // namespace strata
