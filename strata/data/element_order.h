// Which window of which source each element of a run is. Private to this room.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "strata/data/megatron_samples.h"
#include "strata/data/mix.h"

namespace strata::data {

/// Immutable; every place is found in O(log n).
class ElementOrder {
 public:
  virtual ~ElementOrder() = default;
  /// The source of element k, and the element's number among that source's.
  virtual Mix::Pick at(std::int64_t k) const = 0;
  /// Elements of `source` among the first k.
  virtual std::int64_t count(std::size_t source, std::int64_t k) const = 0;
  /// How many elements there are; the largest number where there is no end.
  virtual std::int64_t size() const = 0;
};

/// By weights that may change.
class MixedOrder : public ElementOrder {
 public:
  explicit MixedOrder(MixSchedule schedule) : schedule_(std::move(schedule)) {}
  Mix::Pick at(std::int64_t k) const override { return schedule_.at(k); }
  std::int64_t count(std::size_t source, std::int64_t k) const override {
    return schedule_.count(source, k);
  }
  std::int64_t size() const override;

 private:
  MixSchedule schedule_;
};

/// Megatron's blend.
class MegatronOrder : public ElementOrder {
 public:
  /// Throws Error as `megatron_blend`.
  MegatronOrder(std::span<const double> weights, std::int64_t size);
  Mix::Pick at(std::int64_t k) const override;
  std::int64_t count(std::size_t source, std::int64_t k) const override;
  std::int64_t size() const override { return static_cast<std::int64_t>(blend_.source.size()); }

 private:
  MegatronBlend blend_;
  std::vector<std::vector<std::int64_t>> elements_;  // of each source, rising
};

}  // namespace strata::data
