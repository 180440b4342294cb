// What a training step reads.
#pragma once

#include <cstdint>
#include <optional>

#include "strata/api/array.h"
#include "strata/api/tree/tree.h"
#include "strata/model/model.h"

namespace strata::train {

struct Batch {
  Array tokens, targets;  // i32 (B, S); targets[b, s] is the token after tokens[b, s]
  /// f32 (B, S): how much each target counts; none for 1 everywhere.
  std::optional<Array> weights = std::nullopt;
  /// Of rows that hold several documents, i32 (B, S) both: model::DocumentsInRows.
  std::optional<Array> segments = std::nullopt, positions = std::nullopt;
  STRATA_FIELDS(tokens, targets, weights, segments, positions)
};

/// (B, ...) -> (parts, B / parts, ...)
Batch divided(const Batch& batch, std::int64_t parts);

/// Those of its rows; none where each is one.
std::optional<model::DocumentsInRows> documents_of(const Batch& batch);

/// f32 (B, S): 1 for the tokens of a batch, 0 for padding: what belongs to no segment; in rows
/// without segments what stands behind the last target that counts.
Array tokens_of(const Batch& batch);

}  // namespace strata::train
