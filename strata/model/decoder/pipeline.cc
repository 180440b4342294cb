#include "strata/model/decoder/pipeline.h"

#include <utility>

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/api/sharding/sharding.h"
#include "strata/api/transform/vmap.h"
#include "strata/base/error.h"

namespace strata::model::decoder {
namespace {

thread_local const Pipeline* current = nullptr;

/// (S, 1, ...) of the rank: which stage is the first.
Array is_first(const Pipeline& p, std::int64_t rank) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(rank), 1);
  shape[0] = p.stages;
  return equal(reshape(arange(p.stages), shape), 0);
}

using internal::over_stages;

/// What the stages work on is on their devices.
Array moving(const Array& x) {
  if (x.ndim() != 4) return over_stages(x, 0);
  return nn::with_logical_constraint(
      x, {"activation_stage", "activation_batch", "activation_norm_length", "activation_embed"});
}
Array kept(const Array& x) {
  if (x.ndim() != 5) return over_stages(x, 0);
  return nn::with_logical_constraint(x, {"activation_stage", "", "activation_batch",
                                         "activation_norm_length", "activation_embed"});
}

}  // namespace

PipelineScope::PipelineScope(const Pipeline& p) : before_(std::exchange(current, &p)) {}
PipelineScope::~PipelineScope() { current = before_; }
NoPipelineScope::NoPipelineScope() : before_(std::exchange(current, nullptr)) {}
NoPipelineScope::~NoPipelineScope() { current = before_; }
const Pipeline* current_pipeline() { return current; }

namespace internal {

Array over_stages(const Array& x, std::size_t dimension) {
  const nn::LogicalMesh* mesh = nn::current_logical_mesh();
  if (mesh == nullptr) return x;
  const mesh::PartitionSpec stage = mesh->spec({"activation_stage"});
  if (stage.entries().empty()) return x;
  std::vector<mesh::SpecEntry> entries(static_cast<std::size_t>(x.ndim()), mesh::unconstrained());
  entries[dimension] = stage.entries()[0];
  return lax::with_sharding_constraint(
      Operand(x), mesh::NamedSharding(mesh->mesh(), mesh::PartitionSpec(std::move(entries))));
}

void check_pipeline(const Pipeline& p, std::int64_t layers, std::int64_t batch) {
  if (p.layers() != layers)
    throw Error("pipeline", "{} stages of {} layers in {} repeats are {} layers, the model has {}",
                p.stages, p.layers_per_stage, p.repeats, p.layers(), layers);
  if (p.microbatches < p.stages)
    throw Error("pipeline", "{} microbatches are fewer than the {} stages", p.microbatches,
                p.stages);
  if (batch % p.microbatches != 0)
    throw Error("pipeline", "a batch of {} sequences does not divide into {} microbatches", batch,
                p.microbatches);
}

Array by_stage(const Array& x, const Pipeline& p) {
  std::vector<std::int64_t> shape = x.shape().sizes();
  shape[0] = p.layers_per_stage;
  shape.insert(shape.begin(), {p.repeats, p.stages});
  return over_stages(reshape(x, shape), 1);
}

Array at_tick(const Array& x, const Array& tick, const Pipeline& p) {
  if (p.repeats == 1) return squeeze(x, {0});
  const Array unit = maximum(tick - arange(p.stages), 0);
  const Array repeat = minimum(numpy::floor_divide(unit, static_cast<std::int32_t>(p.microbatches)),
                               static_cast<std::int32_t>(p.repeats - 1));
  const auto one = [](const Array& of_stage, const Array& r) {
    return lax::dynamic_index_in_dim(of_stage, r, 0, false);
  };
  return over_stages(vmap(one, {.in_axes = {1, 0}})(x, repeat), 0);
}

Array to_microbatches(const Array& x, std::int64_t m) {
  std::vector<std::int64_t> shape = x.shape().sizes();
  shape[0] /= m;
  shape.insert(shape.begin() + 1, m);
  return swapaxes(reshape(x, shape), 0, 1);
}
Array from_microbatches(const Array& x) {
  std::vector<std::int64_t> shape = x.shape().sizes();
  shape[1] *= shape[0];
  shape.erase(shape.begin());
  return reshape(swapaxes(x, 0, 1), shape);
}

InFlight start_pipeline(const Array& x, const Pipeline& p) {
  const Array parts = expand_dims(to_microbatches(x, p.microbatches), 0);
  const Array first = kept(where(is_first(p, parts.ndim()), parts, zeros_like(parts)));
  return {moving(zeros_like(squeeze(first[{slice(), slice(0, 1)}], {1}))), first};
}

Array inputs_at(const InFlight& f, const Array& tick, const Pipeline& p) {
  const Array number = tick % static_cast<std::int32_t>(p.microbatches);
  return moving(where(is_first(p, f.moving.ndim()),
                      lax::dynamic_index_in_dim(f.kept, number, 1, false), f.moving));
}

InFlight moved_on(const InFlight& f, const Array& outputs, const Array& tick, const Pipeline& p) {
  // The last stage's goes to the first.
  const Array last = outputs[{slice(p.stages - 1, p.stages)}],
              others = outputs[{slice(0, p.stages - 1)}];
  const Array next = moving(numpy::concatenate({last, others}, 0));
  const Array number = (tick + static_cast<std::int32_t>(p.microbatches - p.stages + 1)) %
                       static_cast<std::int32_t>(p.microbatches);
  const Array old = lax::dynamic_index_in_dim(f.kept, number, 1, false);
  const Array is_full = greater_equal(tick, static_cast<std::int32_t>(p.stages - 1));
  return {next,
          kept(lax::dynamic_update_index_in_dim(f.kept, where(is_full, next, old), number, 1))};
}

Array end_pipeline(const InFlight& f, const Pipeline& p) {
  // The first stage's part alone is not zero.
  const Array done = sum(where(is_first(p, f.kept.ndim()), f.kept, zeros_like(f.kept)), {0});
  return from_microbatches(done);
}

}  // namespace internal
}  // namespace strata::model::decoder
