#include "strata/nn/linear/embed.h"

#include "strata/nn/dtypes.h"

namespace strata::nn {

Initializer default_embed_init() {
  using namespace initializers;
  return variance_scaling(1, Fan::in, Distribution::normal, {.out_axis = 0});
}

Embed::Embed(Param embedding, std::optional<DType> dtype, Outside outside)
    : embedding(std::move(embedding)), dtype(dtype), outside(outside) {}

Embed::Embed(std::int64_t num_embeddings, std::int64_t features, Rngs& rngs, const EmbedOptions& o)
    : embedding(o.embedding_init(rngs("params"), {num_embeddings, features}, o.param_dtype),
                o.embedding_metadata),
      dtype(o.dtype ? *o.dtype : embedding.dtype()),
      outside(Outside::nan) {}

Embed Embed::init(const Array& key, std::int64_t num_embeddings, std::int64_t features,
                  const Initializer& embedding_init, DType param_dtype) {
  return Embed(Param(embedding_init(key, {num_embeddings, features}, param_dtype)));
}

Array Embed::operator()(const Array& tokens) const {
  const ModuleScope scope(*this, "Embed");
  if (!is_integer(tokens.dtype()))
    strata::internal::fail("Embed", "tokens must be integers, got {}",
                           strata::internal::describe(tokens.type()));
  const PlainProduct plain = [&](const Array& which, const Array& table) {
    if (packed) {
      const Array rows = unpack(Packed{numpy::take(table, which, 0, {.mode = "clip"}), *packed});
      return dtype ? astype(rows, *dtype) : rows;
    }
    const Array rows = dtype && table.dtype() != *dtype ? astype(table, *dtype) : table;
    if (outside == Outside::nearest) return numpy::take(rows, which, 0, {.mode = "clip"});
    if (rows.shape(0) == 1) {
      std::vector<std::int64_t> shape = which.shape().sizes();
      shape.push_back(rows.shape(1));
      return numpy::broadcast_to(rows, shape);
    }
    return numpy::take(rows, which, 0);
  };
  return scope.returns(
      intercept({.op = "take", .lhs = tokens, .rhs = embedding, .options = {.dtype = dtype}},
                plain),
      tokens);
}

Array Embed::attend(const Array& x) const {
  const ModuleScope scope(*this, "Embed", "attend");
  if (packed) return scope.returns(packed_dot(x, embedding, {.packed = packed}), x);
  if (x.ndim() == 0 || x.shape(-1) != embedding.shape(1))
    strata::internal::fail("Embed.attend", "the input is {}, rows of the table {} have {} features",
                           strata::internal::describe(x.type()),
                           strata::internal::describe(embedding.type()), embedding.shape(1));
  return scope.returns(nn::einsum("...d,vd->...v", x, embedding, {.dtype = dtype}), x);
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::Embed)
