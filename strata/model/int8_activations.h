// A model whose products with packed weights round activations to eight bits.
//
//   model::ModelPtr fast = model::with_int8_activations(loaded->model);
//
// Products then sum integers (op/quantized/block_dot.cc, strata.block_dot_int8), as llama.cpp's do:
// faster, with each activation within 1/254 of the largest of its 32. Everything else is the
// model's own, and what it promises of bits: results depend neither on rows beside, on how a text
// is cut into calls, nor on threads. Weights that are not packed are multiplied as ever.
#pragma once

#include "strata/model/model.h"

namespace strata::model {

/// The model with all products with packed weights so; weights and caches are the model's own.
ModelPtr with_int8_activations(ModelPtr model);

}  // namespace strata::model
