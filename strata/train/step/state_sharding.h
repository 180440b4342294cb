// How a run's arrays are sharded over a mesh, and the step that keeps them there.
//
//   const nn::LogicalMesh mesh(make_mesh({{"fsdp", 8}}), rules);
//   state = train::put_on_mesh(std::move(state), mesh);
//   train::Step step = train::on_mesh(train::make_step(model, optimizer), mesh);
//   auto [outcome, next] = step(std::move(state), train::put_on_mesh(batch, mesh));
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "strata/model/decoder/pipeline.h"
#include "strata/nn/sharding/logical_sharding.h"
#include "strata/train/step/step.h"

namespace strata::train {

/// Of each leaf of a state, in its order: weights by the names of their dimensions
/// (`out_sharding` in their notes), what the optimizer remembers of a weight in its shape as that
/// weight, all else whole. Throws Error, with path, shape and axes, for a size that its axes do not
/// divide.
std::vector<mesh::NamedSharding> shardings_of(const State& state, const nn::LogicalMesh& mesh);
/// Of a batch's (B, S): activation_embed_and_logits_batch, activation_norm_length.
mesh::NamedSharding sharding_of_batch(const nn::LogicalMesh& mesh);

/// The state in parts. Throws Error as `shardings_of`, and for devices that are not there.
State put_on_mesh(State state, const nn::LogicalMesh& mesh);
/// The batch in parts. Throws Error, with shape and axes, where they do not divide it.
Batch put_on_mesh(const Batch& batch, const nn::LogicalMesh& mesh);

/// The step as one program over the mesh: its activations are sharded as their names say, and the
/// state as `shardings_of` says before and after. Its memory is reused as that of `make_step`.
/// With a pipeline, the layers of decoders run as its stages.
Step on_mesh(Step step, std::shared_ptr<const nn::LogicalMesh> mesh,
             std::optional<model::decoder::Pipeline> pipeline = {});

/// Bytes of the state on the device that holds most of it: as the shardings say, and as the arrays
/// are sharded.
std::int64_t predicted_bytes(const State& state, const nn::LogicalMesh& mesh);
std::int64_t measured_bytes(const State& state);

}  // namespace strata::train
