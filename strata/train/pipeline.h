// The pipeline of a run, from its configuration.
//
//   auto p = pipeline_of(config, *model);     // ici_pipeline_parallelism=4: four stages
//   step = on_mesh(std::move(step), mesh_of(config), p);
#pragma once

#include <optional>
#include <string>

#include "strata/model/decoder/pipeline.h"
#include "strata/model/model.h"
#include "strata/train/config/config.h"

namespace strata::train {

/// Nothing where the configuration has one stage. -1 stands for as many repeats as take all layers
/// through, and for as many microbatches as stages. Throws ConfigError, with the keys and their
/// values, where stages, layers and repeats do not multiply to the model's layers, microbatches are
/// no multiple of stages or do not divide the batch, and for what is not built: some layers outside
/// of stages, layers of several kinds, models that are no decoders of the registry.
std::optional<model::decoder::Pipeline> pipeline_of(const Config& config,
                                                    const model::Model& model);
/// "pipeline: 4 stages of 1 layer, 2 repeats, 4 microbatches; bubble 27.3 %".
std::string pipeline_text(const model::decoder::Pipeline& pipeline);

}  // namespace strata::train
