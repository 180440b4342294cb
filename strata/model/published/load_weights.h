// From published tensors to the weights of a model, and back.
#pragma once

#include "strata/api/tree/tree.h"
#include "strata/model/published/names.h"
#include "strata/model/published/tensor_source.h"

namespace strata::model::published {

/// The weights that models of these options have, of `dtype` (f32 or bf16), each read from the
/// source, turned, cut and stacked; those of options.packed keep their blocks. Before anything is
/// read, names and shapes are compared: a Status lists all tensors that are missing, have another
/// shape, or belong to no weight.
Result<tree::Tree> load_weights(const decoder::Options& options, const Names& names,
                                const TensorSource& source, DType dtype);

/// The weights that can be kept as the source packs them, by their paths: matrices and embeddings
/// whose tensors have one format in all layers.
std::map<std::string, BlockFormat, std::less<>> packed_weights(const decoder::Options& options,
                                                               const Names& names,
                                                               const TensorSource& source);

/// The tensors that these weights amount to where others publish them, in f32 or bf16 as they are:
/// load_weights backwards. In GGUF's convention matrices are (out, in), too; the file's writer
/// lists dimensions the other way round.
std::map<std::string, Literal> published_tensors(
    const decoder::Options& options, const Names& names, const tree::Tree& params,
    TensorSource::Convention convention = TensorSource::Convention::hugging_face);

}  // namespace strata::model::published
