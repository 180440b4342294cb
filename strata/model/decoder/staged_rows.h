// A pipeline (pipeline.h) whose stages also see what belongs to the rows of their microbatch, and
// add up what they count.
//
//   auto [y, sums] = run_staged(p, layers, each, rows, x, zeros, stage);
//
// Rows are places and documents of tokens, say: (B, ...) like x. Counts are sums over tokens, of
// routers of experts say: what a stage gives while the pipeline fills and empties is left out, so
// that all microbatches together give what the whole batch gives.
#pragma once

#include <utility>

#include "strata/api/numpy.h"
#include "strata/api/transform/control.h"
#include "strata/model/decoder/pipeline.h"
#include "strata/nn/transform/vmap.h"

namespace strata::model::decoder {
namespace internal {

/// (B, ...) as (M, B / M, ...), rows in turn.
Array to_microbatches(const Array& x, std::int64_t microbatches);
/// Of (M, B / M, ...) what belongs to each stage's microbatch at a tick: (S, B / M, ...).
Array rows_at_tick(const Array& parts, const Array& tick, const Pipeline& p);
/// The sum over stages of (S, ...) of those that have work at a tick.
Array counted_at_tick(const Array& x, const Array& tick, const Pipeline& p);

}  // namespace internal

/// x (B, ...) through all layers, and the sums, which begin as `zeros`. `stage(layers, x, each,
/// rows)` is one stage's work on a microbatch: pair{x, what it counts}.
template <class Layers, class Each, class Rows, class Sums, class Stage>
std::pair<Array, Sums> run_staged(const Pipeline& p, const Layers& layers, const Each& each,
                                  const Rows& rows, const Array& x, const Sums& zeros,
                                  const Stage& stage) {
  const auto in_stages = [&](const Array& leaf) { return internal::by_stage(leaf, p); };
  const Layers weights = internal::each_leaf<Layers>(layers, in_stages);
  const Each numbers = internal::each_leaf<Each>(each, in_stages);
  const Rows parts = internal::each_leaf<Rows>(
      rows, [&](const Array& leaf) { return internal::to_microbatches(leaf, p.microbatches); });
  const auto tick = [&](const std::pair<internal::InFlight, Sums>& before, const Array& t) {
    const auto now = [&](const Array& leaf) { return internal::at_tick(leaf, t, p); };
    Layers w = internal::each_leaf<Layers>(weights, now);
    Each e = internal::each_leaf<Each>(numbers, now);
    Rows r = internal::each_leaf<Rows>(
        parts, [&](const Array& leaf) { return internal::rows_at_tick(leaf, t, p); });
    Array in = internal::inputs_at(before.first, t, p);
    auto work = [&](Layers& own, Array& part, Each& n, Rows& here) {
      return stage(own, part, n, here);
    };
    const auto [out, counts] = nn::vmap(work, {.axis_size = p.stages})(w, in, e, r);
    const Sums here = internal::each_leaf<Sums>(
        counts, [&](const Array& leaf) { return internal::counted_at_tick(leaf, t, p); });
    const Sums sums =
        tree::map([](const Array& a, const Array& b) { return a + b; }, before.second, here);
    return std::pair(std::pair(internal::moved_on(before.first, out, t, p), sums), nullptr);
  };
  const auto last =
      scan(tick, std::pair(internal::start_pipeline(x, p), zeros), arange(p.ticks())).first;
  return {internal::end_pipeline(last.first, p), last.second};
}

}  // namespace strata::model::decoder
