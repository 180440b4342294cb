// Tensors in blocks of MXFP4, as GPT-OSS is published, as the tensors that they stand for.
#pragma once

#include "strata/model/published/tensor_source.h"

namespace strata::model::published {

/// The same tensors, but for pairs X_blocks (E, out, groups, 16) and X_scales (E, out, groups) of
/// ui8, which are shown as X (E, in, out), in = 32 groups, in f32. A block's byte j holds elements
/// 2 j, in its low half, and 2 j + 1; an element is one of 0, 0.5, 1, 1.5, 2, 3, 4, 6 with a sign,
/// times 2^(scale - 127). Source: OCP Microscaling Formats 1.0; integrations/mxfp4.py of
/// transformers. `from` must live as long as the result.
TensorSourcePtr without_mxfp4(const TensorSource& from);

}  // namespace strata::model::published
