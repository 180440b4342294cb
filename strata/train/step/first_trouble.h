// Where numbers stopped being finite in a training step, found by taking its parts once more.
//
//   first_trouble(state, batch, model, options)
//   // "the activations of layer 4 of 12 are the first that are not finite, in its feed-forward
//   part"
//
// In the order in which a step computes: weights, activations from the first layer on, the loss,
// gradients from the last layer back.
#pragma once

#include <optional>
#include <string>

#include "strata/train/step/step.h"

namespace strata::train {

/// What is not finite first in the step of `batch` from `state`, which is that before the step;
/// empty where all is finite. Layers count from 0. For activations the step's losses are computed
/// with the layers behind some layer taken out (their weights are 0, so that they add nothing),
/// which costs one program and as many runs as it takes to halve the layers down to one; for
/// gradients they are computed once more. Models whose layers do not stand in the order of their
/// stacks of weights are told without a layer.
std::string first_trouble(const State& state, const Batch& batch, const model::ModelPtr& model,
                          const StepOptions& options = {},
                          const std::optional<tree::Filter>& frozen = std::nullopt);

}  // namespace strata::train
