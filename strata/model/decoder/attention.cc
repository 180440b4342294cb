#include "strata/model/decoder/attention.h"

#include "strata/api/lax.h"
#include "strata/api/nn.h"
#include "strata/api/numpy.h"
#include "strata/nn/sharding/logical_sharding.h"
#include "strata/nn/transform/named_tensors.h"
#include "strata/nn/wide.h"

namespace strata::model::decoder {

Array Attention::operator()(const Array& x, const Options& o,
                            const std::optional<RotaryTable>& rotary,
                            const std::optional<Array>& query_scale,
                            const std::optional<Array>& unit, const KeysAndValues& earlier,
                            const Attending& attending) const {
  const nn::ModuleScope scope(*this, "Attention");
  const auto over_rms = [&](const Array& y) {
    const Array full = astype(y, nn::wide(y.dtype()));
    const Array square = mean(full * full, {.axis = -1, .keepdims = true});
    return astype(full * lax::rsqrt(square + o.epsilon), y.dtype());
  };
  const auto normed_heads = [&](Array y, const std::optional<Norm>& norm, std::int64_t count) {
    if (norm && o.head_norm == HeadNorm::all_heads) y = (*norm)(y, o.norm, o.epsilon);
    y = reshape(y, {x.shape(0), x.shape(1), count, o.head_dim});
    if (norm && o.head_norm == HeadNorm::each_head) y = (*norm)(y, o.norm, o.epsilon);
    return y;
  };
  const auto heads_of = [&](const Linear& project, const std::optional<Norm>& norm,
                            std::int64_t count) { return normed_heads(project(x), norm, count); };
  // Of gated attention the second half of each head's query is its gate.
  std::optional<Array> gate;
  const auto queries = [&] {
    if (!o.gated_attention) return heads_of(query, query_norm, o.query_heads);
    const std::vector<Array> halves =
        split(reshape(query(x), {x.shape(0), x.shape(1), o.query_heads, 2 * o.head_dim}), 2, -1);
    gate = strata::nn::sigmoid(halves[1]);
    return query_norm ? (*query_norm)(halves[0], o.norm, o.epsilon) : halves[0];
  };
  Heads heads{queries(), earlier.key, earlier.value, !key};
  if (key) {
    const Array projected = (*key)(x);
    heads.key = normed_heads(projected, key_norm, o.kv_heads);
    heads.value = normed_heads(value ? (*value)(x) : projected, {}, o.kv_heads);
    if (o.unit_values) heads.value = over_rms(heads.value);
  }
  const auto placed = [&](Array y) {
    if (rotary) y = rotate(y, *rotary, o.pairing);
    return unit ? where(*unit, over_rms(y), y) : y;
  };
  heads.query = placed(heads.query);
  if (key) heads.key = placed(heads.key);
  if (query_scale) heads.query = heads.query * astype(*query_scale, heads.query.dtype());
  heads.query = nn::with_logical_constraint(
      heads.query, {"activation_batch_attn", "activation_length_attn", "activation_heads", ""});
  heads.query = nn::named(heads.query, "query_proj");
  if (key) {
    const auto constrained = [](const Array& y) {
      return nn::with_logical_constraint(
          y, {"activation_kv_batch", "activation_kv_length", "activation_kv_heads", ""});
    };
    heads.key = nn::named(constrained(heads.key), "key_proj");
    heads.value = nn::named(constrained(heads.value), "value_proj");
  }
  Array attended = nn::named(attending(heads), "context");
  if (gate) attended = attended * *gate;
  attended = nn::named(attended, "attention_out");
  const Array given = out(reshape(attended, {x.shape(0), x.shape(1), o.query_heads * o.head_dim}));
  return scope.returns(nn::named(given, "out_proj"), x);
}

}  // namespace strata::model::decoder
