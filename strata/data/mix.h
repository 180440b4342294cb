// Which of several sources the next element comes from, by weights: every choice computed alone.
//
//   auto mix = data::Mix::make({0.7, 0.3});
//   mix->at(3)          // {.source = 1, .index = 0}: element 3 is the first one of source 1
//   mix->count(0, 10)   // 7: how many of elements 0 .. 9 are of source 0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "strata/base/result.h"

namespace strata::data {

/// Grain's rule, in exact arithmetic: weights become whole parts p_i = trunc(w_i * (100 / smallest
/// weight)), and among any first k elements source i has its share k * p_i / sum(p) up to the
/// number of sources. A source of weight 0, which Grain refuses, is never chosen. Source:
/// grain/_src/python/dataset/transformations/mix.py.
class Mix {
 public:
  /// Code::invalid for a weight that is negative or no number, for weights that sum to 0, and for
  /// weights more than 10^9 times apart.
  static Result<Mix> make(const std::vector<double>& weights);
  struct Pick {
    std::size_t source = 0;
    std::int64_t index = 0;  // among the elements of that source
    bool operator==(const Pick&) const = default;
  };
  /// Element k >= 0.
  Pick at(std::int64_t k) const;
  /// Elements of `source` among the first k.
  std::int64_t count(std::size_t source, std::int64_t k) const;
  /// The whole parts.
  const std::vector<std::int64_t>& parts() const { return parts_; }
  /// The share of a source, 0 to 1.
  double share(std::size_t source) const {
    return static_cast<double>(parts_[source]) / static_cast<double>(sum_);
  }

 private:
  explicit Mix(std::vector<std::int64_t> parts);
  std::vector<std::int64_t> parts_;
  std::int64_t sum_ = 0;
};

/// Mixes that follow each other, each from an element on: sources go on where they stood. A place
/// is found in O(log stages).
class MixSchedule {
 public:
  /// The mix of all elements until another one is added.
  explicit MixSchedule(Mix first);
  /// From element `from` on, which must be behind the last stage's first.
  void add(std::int64_t from, Mix mix);
  /// Element k >= 0.
  Mix::Pick at(std::int64_t k) const;
  /// Elements of `source` among the first k.
  std::int64_t count(std::size_t source, std::int64_t k) const;
  /// The share of a source at element k, 0 to 1.
  double share(std::size_t source, std::int64_t k) const { return stage(k).mix.share(source); }

 private:
  struct Stage {
    std::int64_t from;
    Mix mix;
    std::vector<std::int64_t> before;  // of each source, the elements of earlier stages
  };
  const Stage& stage(std::int64_t k) const;
  std::vector<Stage> stages_;
};

}  // namespace strata::data
