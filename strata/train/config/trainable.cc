#include "strata/train/config/trainable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "strata/api/numpy.h"
#include "strata/optim/rule.h"
#include "strata/optim/transform/masked.h"
#include "strata/train/config/by_patterns.h"
#include "strata/train/config/config.h"

namespace strata::train {
namespace {

/// What one pattern means; without layers all of them.
struct Row {
  tree::Filter which;
  std::vector<std::int64_t> layers;
};

[[noreturn]] void refuse(const std::string& pattern, const std::string& why) {
  throw ConfigError(fmt::format("trainable_parameters_mask={}: {}", pattern, why));
}

std::vector<std::int64_t> layers_of(const std::string& pattern, std::string_view list) {
  std::vector<std::int64_t> out;
  while (true) {
    std::int64_t layer = -1;
    const auto [end, error] = std::from_chars(list.data(), list.data() + list.size(), layer);
    list.remove_prefix(static_cast<std::size_t>(end - list.data()));
    if (error != std::errc() || layer < 0 || (!list.empty() && list.front() != ','))
      refuse(pattern, "allowed are numbers of layers behind ':', as 0,3");
    out.push_back(layer);
    if (list.empty()) return out;
    list.remove_prefix(1);
  }
}

Row read_row(const std::string& pattern, const tree::Tree& weights) {
  const std::size_t colon = pattern.find(':');
  Row out{by_patterns({pattern.substr(0, colon)}), {}};
  if (colon != pattern.npos)
    out.layers = layers_of(pattern, std::string_view(pattern).substr(colon + 1));
  const tree::Tree meant = weights.filter(out.which);
  if (meant.size() == 0)
    refuse(pattern, fmt::format("it matches no weight; allowed is a pattern of one of {}",
                                fmt::join(weights.names(), ", ")));
  for (std::size_t i = 0; i < meant.size(); ++i)
    for (const std::int64_t layer : out.layers) {
      const Array& w = meant.value(i);
      const std::int64_t there = w.ndim() > 1 ? w.shape(0) : 0;
      if (layer >= there)
        refuse(pattern, fmt::format("{} has {} layers", meant.entry(i).name, there));
    }
  return out;
}

/// Whether each layer of a leaf is meant, (L, 1, ...); none where all are.
std::optional<Array> meant_layers(const std::vector<Row>& rows, const tree::Entry& e,
                                  const Array& leaf) {
  std::vector<std::int64_t> layers;
  for (const Row& row : rows) {
    if (!row.which(e, leaf)) continue;
    if (row.layers.empty()) return {};
    layers.insert(layers.end(), row.layers.begin(), row.layers.end());
  }
  if (layers.empty()) return {};
  std::vector<std::int64_t> shape(static_cast<std::size_t>(leaf.ndim()), 1);
  shape[0] = leaf.shape(0);
  std::vector<std::int32_t> is_meant;
  for (std::int64_t i = 0; i < leaf.shape(0); ++i)
    is_meant.push_back(std::count(layers.begin(), layers.end(), i) > 0);
  return not_equal(array(is_meant, shape), 0);
}

}  // namespace

optim::GradientTransformation of_trainable(const std::vector<std::string>& patterns,
                                           const tree::Tree& weights,
                                           optim::GradientTransformation rule) {
  std::vector<Row> rows;
  for (const std::string& pattern : patterns) rows.push_back(read_row(pattern, weights));
  const bool whole =
      std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.layers.empty(); });
  const auto some = std::make_shared<const optim::GradientTransformation>(optim::partition(
      {{"trainable", std::move(rule)}, {"frozen", optim::set_to_zero()}},
      [rows](const tree::Entry& e, const Array& x) {
        return std::any_of(rows.begin(), rows.end(), [&](const Row& r) { return r.which(e, x); })
                   ? "trainable"
                   : "frozen";
      }));
  if (whole) return *some;
  return optim::detail::rule(
      fmt::format("train::of_layers({})", some->text()), some->rule().needs(),
      [some](const tree::Tree& params) { return some->init(params); },
      [some, rows](const tree::Tree& u, const tree::Tree& s, const tree::Tree* params,
                   const optim::Extra& extra) {
        auto [updates, next] = some->update(u, s, params, extra);
        const tree::Tree out = updates.map([&](const tree::Entry& e, const Array& x) {
          const auto layers = meant_layers(rows, e, x);
          return layers ? where(*layers, x, zeros_like(x)) : x;
        });
        return std::pair(out, std::move(next));
      });
}

}  // namespace strata::train
