#include "strata/model/decoder/scaled_embedding.h"

#include "strata/api/numpy.h"

namespace strata::model::decoder {

Array scaled_embedding(const nn::Embed& table, const Array& tokens, double factor) {
  const Array rows = table(tokens);
  if (factor == 1) return rows;
  return rows * astype(Array(factor), table.packed ? rows.dtype() : table.embedding.dtype());
}

}  // namespace strata::model::decoder
