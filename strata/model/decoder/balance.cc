#include "strata/model/decoder/balance.h"

#include "strata/api/lax.h"
#include "strata/api/nn.h"
#include "strata/api/numpy.h"

namespace strata::model::decoder {

namespace {

/// P of each expert, (B, S, E).
Array probabilities(const Routes& r, const ExpertOptions& e, const BalanceOptions& o) {
  if (o.plain_scores) return r.scores / (expand_dims(sum(r.scores, -1), -1) + 1e-20);
  if (e.score == RouterScore::softmax) return r.scores;
  // Llama 4's are compared as they come, which MaxText's loss keeps to.
  return strata::nn::softmax(e.weigh_input ? r.logits : r.scores, -1);
}

/// How often each token chose each expert, (B, S, E): 0 or 1.
Array choices(const Array& experts, std::int64_t count) {
  return sum(astype(assignments(experts, count), DType::f32), -2);
}

/// Scopes but the global one: E sum_e f_e P_e, f and P being means over `axes` of tokens that
/// count.
Array evenness(const Array& chosen, const Array& p, const Array& mask, const ExpertOptions& e,
               const Axes& axes) {
  const Array tokens = expand_dims(maximum(sum(mask, axes), 1.0f), -1);
  const Array weight = expand_dims(mask, -1);
  const Array f = sum(chosen * weight, axes) / (tokens * static_cast<double>(e.active)),
              mean = sum(p * weight, axes) / tokens;
  return sum(f * mean, -1) * static_cast<double>(e.count);
}

}  // namespace

RouterSums layer_sums(const Routes& r, const ExpertOptions& e, const BalanceOptions& o,
                      const Array& mask, const std::optional<Array>& fractions) {
  const Array zero = zeros({}), weight = expand_dims(mask, -1);
  RouterSums out{zero, zero, sum(choices(r.experts, e.count) * weight, {0, 1}), zero};
  if (r.kept) out.dropped = sum(astype(logical_not(*r.kept), DType::f32) * weight);
  if (o.router_z != 0) {
    const Array z = strata::nn::logsumexp(astype(r.logits, DType::f32), -1);
    out.router_z = sum(z * z * mask);
  }
  if (o.load_balance == 0) return out;
  const Array p = astype(probabilities(r, e, o), DType::f32);
  const Array chosen =
      o.plain_scores ? choices(lax::top_k(lax::stop_gradient(r.scores), e.active).second, e.count)
                     : choices(r.experts, e.count);
  switch (o.scope) {
    case BalanceScope::sequence:
      out.balance = sum(evenness(chosen, p, mask, e, {1}) *
                        astype(greater(sum(mask, 1), Array(0.0f)), DType::f32));
      break;
    case BalanceScope::micro_batch: out.balance = evenness(chosen, p, mask, e, {0, 1}); break;
    case BalanceScope::global:
      if (fractions)
        out.balance = sum(p * weight * *fractions) * static_cast<double>(e.count);
      else
        out.chosen = sum(chosen * weight, {0, 1});
      break;
  }
  return out;
}

Array updated_bias(const Array& bias, const Array& chosen, double rate) {
  const Array mean = expand_dims(sum(chosen, -1), -1) / static_cast<double>(chosen.shape(-1));
  return bias + astype(sign(mean - chosen), bias.dtype()) * rate;
}

}  // namespace strata::model::decoder
