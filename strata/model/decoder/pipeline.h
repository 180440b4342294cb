// Layers of a decoder as stages that work at once, each on another part of the batch.
//
//   const Pipeline p{.stages = 4, .layers_per_stage = 1, .repeats = 2, .microbatches = 4};
//   PipelineScope scope(p);              // decoders' layers run so on this thread while it lives
//   p.bubble()                           // 3/11: the share of ticks in which a stage has no work
//
// Layer (r S + s) n + j of L = R S n is the j-th of stage s in repeat r. The batch is cut into M
// microbatches; at tick t stage s works on unit t - s, which is microbatch (t - s) mod M in repeat
// (t - s) / M, so that M R + S - 1 ticks do all. Between ticks what the stages gave moves on by one
// stage, round from the last to the first, which keeps it until its next repeat: on a mesh whose
// axis `stage` cuts the leading dimension, that is one collective permute. Stages run by `vmap`,
// ticks by `scan`; derivatives are those of both. Ticks without work compute on zeros, which nobody
// reads. Source: MaxText's circular pipeline (maxtext/layers/pipeline.py). Deviations: the batch's
// rows go to microbatches in turn, so that rows need not move between devices; the first stage
// holds the inputs of all microbatches, where MaxText spreads them over stages.
#pragma once

#include <cstdint>
#include <vector>

#include "strata/api/numpy.h"
#include "strata/api/transform/control.h"
#include "strata/nn/sharding/logical_sharding.h"
#include "strata/nn/transform/vmap.h"
#include "strata/tree/algorithms.h"

namespace strata::model::decoder {

struct Pipeline {
  std::int64_t stages = 1, layers_per_stage = 1, repeats = 1, microbatches = 1;
  std::int64_t layers() const { return stages * layers_per_stage * repeats; }
  std::int64_t ticks() const { return microbatches * repeats + stages - 1; }
  double bubble() const { return static_cast<double>(stages - 1) / static_cast<double>(ticks()); }
};

/// While it lives, layers without a cache on this thread run as the pipeline, which has to live as
/// long.
class PipelineScope {
 public:
  explicit PipelineScope(const Pipeline& pipeline);
  ~PipelineScope();
  PipelineScope(const PipelineScope&) = delete;
  PipelineScope& operator=(const PipelineScope&) = delete;

 private:
  const Pipeline* before_;
};
/// While it lives, layers on this thread run one behind the other whatever scope is outside.
class NoPipelineScope {
 public:
  NoPipelineScope();
  ~NoPipelineScope();
  NoPipelineScope(const NoPipelineScope&) = delete;
  NoPipelineScope& operator=(const NoPipelineScope&) = delete;

 private:
  const Pipeline* before_;
};
/// That of this thread; null outside of all scopes.
const Pipeline* current_pipeline();

/// Where nothing is given for each layer.
struct NothingEach {
  STRATA_FIELDS()
};

namespace internal {

/// Throws Error where they do not fit: other layers than L, a batch that does not divide into the
/// microbatches, fewer of these than stages.
void check_pipeline(const Pipeline& p, std::int64_t layers, std::int64_t batch);
/// Over the mesh's stages along one dimension, the others as they like.
Array over_stages(const Array& x, std::size_t dimension);
/// (L, ...) as (R, S, n, ...), stages over the mesh.
Array by_stage(const Array& x, const Pipeline& p);
/// Of (R, S, n, ...) what each stage needs at a tick: (S, n, ...).
Array at_tick(const Array& x, const Array& tick, const Pipeline& p);
/// Rows (B, ...) in turn to M microbatches, (M, B / M, ...), and back.
Array to_microbatches(const Array& x, std::int64_t microbatches);
Array from_microbatches(const Array& x);

/// What is carried from tick to tick: what the stages get next, (S, B / M, ...), and what the first
/// one keeps, (S, M, B / M, ...), of which the other stages' parts are not read.
struct InFlight {
  Array moving, kept;
  STRATA_FIELDS(moving, kept)
};
InFlight start_pipeline(const Array& x, const Pipeline& p);
/// Inputs of the stages at a tick.
Array inputs_at(const InFlight& f, const Array& tick, const Pipeline& p);
/// After the stages gave `outputs`.
InFlight moved_on(const InFlight& f, const Array& outputs, const Array& tick, const Pipeline& p);
/// What has gone through all layers, (B, ...).
Array end_pipeline(const InFlight& f, const Pipeline& p);

template <class T>
T each_leaf(T tree, const std::function<Array(const Array&)>& f) {
  tree::for_each(tree, [&](Array& leaf) { leaf = f(std::as_const(leaf)); });
  return tree;
}

}  // namespace internal

/// x (B, ...) through all layers: `stage(layers, x, each)` is one stage's work on a microbatch with
/// layers and what is given for each of them, both with n leading.
template <class Layers, class Each, class Stage>
Array run_pipeline(const Pipeline& p, const Layers& layers, const Each& each, const Array& x,
                   const Stage& stage) {
  const auto in_stages = [&](const Array& leaf) { return internal::by_stage(leaf, p); };
  const Layers weights = internal::each_leaf<Layers>(layers, in_stages);
  const Each numbers = internal::each_leaf<Each>(each, in_stages);
  auto tick = [&](const internal::InFlight& f, const Array& t) {
    const auto now = [&](const Array& leaf) { return internal::at_tick(leaf, t, p); };
    Layers w = internal::each_leaf<Layers>(weights, now);
    Each e = internal::each_leaf<Each>(numbers, now);
    Array in = internal::inputs_at(f, t, p);
    auto work = [&](Layers& own, Array& part, Each& n) { return stage(own, part, n); };
    const Array out = nn::vmap(work, {.axis_size = p.stages})(w, in, e);
    return std::pair(internal::moved_on(f, out, t, p), nullptr);
  };
  return internal::end_pipeline(scan(tick, internal::start_pipeline(x, p), arange(p.ticks())).first,
                                p);
}

}  // namespace strata::model::decoder
