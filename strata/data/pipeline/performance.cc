#include "strata/data/pipeline/performance.h"

#include <algorithm>
#include <thread>

#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace {

using namespace pipeline;

/// What is read by number where a graph goes over to elements in order.
void find_read(const Node& node, std::vector<std::shared_ptr<const MapNode>>& out) {
  for (const auto& parent : node.drawn()) {
    auto map = std::dynamic_pointer_cast<const MapNode>(parent);
    if (map && dynamic_cast<const IterNode*>(&node))
      out.push_back(std::move(map));
    else
      find_read(*parent, out);
  }
}

/// Bytes of the mean of `samples` elements in all; 0 where there are fewer.
double mean_bytes(const std::vector<IterDataset>& datasets, std::int64_t samples) {
  const auto n = static_cast<std::int64_t>(datasets.size());
  std::int64_t count = 0, bytes = 0;
  for (const IterDataset& ds : datasets) {
    for (const Element& e : ds.iterate().take((samples + n - 1) / n)) {
      bytes += e.byte_count();
      ++count;
    }
  }
  return count < samples ? 0 : static_cast<double>(bytes) / static_cast<double>(count);
}

std::int64_t that_fit(double budget, double bytes, std::int64_t most) {
  if (bytes <= 0) return most;
  return static_cast<std::int64_t>(std::min(budget / bytes, static_cast<double>(most)));
}

}  // namespace

PerformanceConfig pick_performance_config(const IterDataset& ds, const PerformanceBudget& o) {
  if (o.ram_budget_mb < 0 || o.samples_to_check < 1)
    throw Error("pick_performance_config",
                "a budget of {} MB and {} samples: allowed are 0 or more and 1 or more",
                o.ram_budget_mb, o.samples_to_check);
  const double budget = static_cast<double>(o.ram_budget_mb) * (1 << 20);
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  PerformanceConfig out;
  out.multiprocessing_options = MultiprocessingOptions{
      .num_workers = static_cast<int>(
          that_fit(budget, mean_bytes({ds}, o.samples_to_check), o.max_workers.value_or(cores)))};
  std::vector<std::shared_ptr<const MapNode>> nodes;
  find_read(*ds.node(), nodes);
  std::vector<IterDataset> read;
  for (const auto& node : nodes) read.push_back(MapDataset(node).to_iter_dataset());
  const double each = read.empty() ? 0 : mean_bytes(read, o.samples_to_check);
  out.read_options =
      ReadOptions{.prefetch_buffer_size = that_fit(budget, each * static_cast<double>(read.size()),
                                                   o.max_buffer_size.value_or(1000))};
  return out;
}

IterDataset multithread_prefetch(const IterDataset& ds, int num_threads, std::int64_t buffer_size) {
  if (num_threads < 0)
    throw Error("multithread_prefetch", "num_threads is {}; allowed is 0 or more", num_threads);
  return ds.mp_prefetch({.num_workers = num_threads, .per_worker_buffer_size = buffer_size});
}

namespace {

std::optional<DType> dtype_of(const Element& leaf) {
  switch (leaf.kind()) {
    case Element::Kind::boolean: return DType::i1;
    case Element::Kind::integer: return DType::i64;
    case Element::Kind::real: return DType::f64;
    case Element::Kind::array: return leaf.array().dtype();
    default: return std::nullopt;
  }
}

}  // namespace

std::vector<LeafSpec> get_element_spec(const IterDataset& ds) {
  std::vector<LeafSpec> out;
  for (const Element& e : ds.iterate().take(1))
    e.for_each_leaf([&](const std::string& path, const Element& leaf) {
      out.push_back({path, leaf.kind(), dtype_of(leaf), leaf.shape()});
    });
  return out;
}

std::vector<LeafSpec> get_element_spec(const MapDataset& ds) {
  return get_element_spec(ds.to_iter_dataset());
}

}  // namespace strata::data
