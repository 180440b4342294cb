#include "strata/model/decoder/latent_attention.h"

#include "strata/api/numpy.h"
#include "strata/nn/transform/named_tensors.h"

namespace strata::model::decoder {

namespace {

/// Of the norms inside, whatever the layers' is.
constexpr double kEpsilon = 1e-6;

/// The first `width` elements of the last axis, and the others.
std::pair<Array, Array> cut(const Array& x, std::int64_t width) {
  const std::vector<Array> parts = split(x, std::vector<std::int64_t>{width}, -1);
  return {parts[0], parts[1]};
}

/// The weight that a product has in effect, its adapter among it: (I, O) of this dtype.
Array whole_kernel(const Linear& w, DType dtype) {
  Array kernel = astype(w.kernel, dtype);
  if (!w.lora) return kernel;
  const Array added = dot(astype(w.lora->a, dtype), astype(w.lora->b, dtype));
  return kernel + astype(added * w.lora->scale, dtype);
}

}  // namespace

Array LatentAttention::operator()(const Array& x, const Options& o,
                                  const std::optional<RotaryTable>& rotary, bool absorbed,
                                  const Attending& attending) const {
  const nn::ModuleScope scope(*this, "LatentAttention");
  const LatentOptions& l = o.latent;
  const std::int64_t batch = x.shape(0), length = x.shape(1), heads = o.query_heads;
  const auto normed = [&](const Norm& norm, const Array& y) { return norm(y, o.norm, kEpsilon); };
  const auto turned = [&](const Array& y) { return rotary ? rotate(y, *rotary, o.pairing) : y; };

  const auto narrow_query = [&] {
    const Array low = nn::named((*query_a)(x), "query_wa_proj");
    return nn::named(normed(*query_a_norm, low), "mla_q");
  };
  const Array q = query ? (*query)(x) : (*query_b)(narrow_query());
  auto [q_plain, q_turned] =
      cut(reshape(q, {batch, length, heads, l.plain_dim + l.turned_dim}), l.plain_dim);
  q_turned = turned(q_turned);
  auto [c, k_turned] = cut(nn::named(kv_a(x), "kv_wa_proj"), l.kv_rank);
  c = nn::named(normed(kv_a_norm, c), "mla_kv");
  k_turned = turned(reshape(k_turned, {batch, length, 1, l.turned_dim}));

  Array attended;
  if (absorbed) {
    const Array up =
        reshape(whole_kernel(kv_b, x.dtype()), {l.kv_rank, heads, l.plain_dim + l.value_dim});
    const auto [to_keys, to_values] = cut(up, l.plain_dim);
    const Array q_latent = einsum("bshn,rhn->bshr", q_plain, to_keys);
    const Array shared = reshape(c, {batch, length, 1, l.kv_rank});
    attended = attending(
        {concatenate({q_latent, q_turned}, -1), concatenate({shared, k_turned}, -1), shared});
    attended = einsum("bshr,rhv->bshv", attended, to_values);
  } else {
    const auto [k_plain, v] =
        cut(reshape(kv_b(c), {batch, length, heads, l.plain_dim + l.value_dim}), l.plain_dim);
    const Array everywhere = broadcast_to(k_turned, {batch, length, heads, l.turned_dim});
    attended = attending({nn::named(concatenate({q_plain, q_turned}, -1), "query_proj"),
                          nn::named(concatenate({k_plain, everywhere}, -1), "key_proj"),
                          nn::named(v, "value_proj")});
  }
  attended = nn::named(nn::named(attended, "context"), "attention_out");
  const Array given = out(reshape(attended, {batch, length, heads * l.value_dim}));
  return scope.returns(nn::named(given, "out_proj"), x);
}

}  // namespace strata::model::decoder
