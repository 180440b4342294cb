// How much to read ahead, found from a few elements; and what elements are made of.
//
//   PerformanceConfig c = pick_performance_config(ds, {.ram_budget_mb = 2048});
//   IterDataset fast = ds.mp_prefetch(*c.multiprocessing_options);
//   get_element_spec(fast);     // {{"tokens", array, i32, (8, 256)}}
//
// Source: grain/_src/python/dataset/transformations/{prefetch,prefetch_autotune}.py.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strata/data/pipeline/pipeline.h"

namespace strata::data {

struct PerformanceConfig {
  std::optional<MultiprocessingOptions> multiprocessing_options;
  std::optional<ReadOptions> read_options;
};
struct PerformanceBudget {
  /// Memory for elements made ahead, in units of 2^20 bytes.
  std::int64_t ram_budget_mb = 0;
  /// Workers at most; this machine's cores where none is given.
  std::optional<int> max_workers = {};
  /// Elements of a buffer at most; 1000 where none is given.
  std::optional<std::int64_t> max_buffer_size = {};
  /// Elements whose size is looked at.
  std::int64_t samples_to_check = 5;
};

/// Reads a few elements at the end of `ds`, and a few in front of each to_iter_dataset, and gives
/// as many workers and as long a buffer as the budget holds: floor(budget / mean size), at most
/// what is allowed. Where there are too few elements, what is allowed. Throws Error for a sample
/// below 1 or a budget below 0. Deviation: sizes are those of the values, without what a Python
/// object takes beside them.
PerformanceConfig pick_performance_config(const IterDataset& ds, const PerformanceBudget& budget);

/// Threads in the order of as many workers: thread w of W makes elements w, w + W ... of each
/// to_iter_dataset, `buffer_size` of them ahead. 0 threads change nothing. Throws Error for fewer.
/// As mp_prefetch, whose workers are threads here, too; upstream's sequential_slice is not there.
IterDataset multithread_prefetch(const IterDataset& ds, int num_threads, std::int64_t buffer_size);

/// A leaf of an element.
struct LeafSpec {
  /// Where it is: "tokens", "parts/0"; empty for an element that is a leaf itself.
  std::string path;
  Element::Kind kind = Element::Kind::none;
  /// Of arrays, and of numbers as numpy holds them (i64, f64, bool).
  std::optional<DType> dtype = {};
  Shape shape = {};
  bool operator==(const LeafSpec&) const = default;
};
/// The leaves of the first element; none of an empty data set. Deviation: upstream derives them and
/// reads nothing, but gives up at operations that hold a function.
std::vector<LeafSpec> get_element_spec(const MapDataset& ds);
std::vector<LeafSpec> get_element_spec(const IterDataset& ds);

}  // namespace strata::data
