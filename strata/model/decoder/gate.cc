#include "strata/model/decoder/gate.h"

#include <limits>

#include "strata/api/lax.h"
#include "strata/api/nn.h"
#include "strata/api/numpy.h"

namespace strata::model::decoder {

namespace {

/// Scores to choose by, those of experts in groups that are not chosen from below all others.
Array within_groups(const Array& choice, const ExpertOptions& o) {
  std::vector<std::int64_t> shape = choice.shape().sizes();
  const std::int64_t each = o.count / o.groups;
  shape.back() = o.groups;
  shape.push_back(each);
  const Array grouped = reshape(choice, shape);
  const Array of_group = sum(lax::top_k(grouped, o.group_score_of).first, -1);  // (..., G)
  const Array best = lax::top_k(of_group, o.active_groups).second;
  const Array open = any(equal(expand_dims(best, -1), arange(o.groups)), -2);
  const Array kept = where(expand_dims(open, -1), grouped, -std::numeric_limits<float>::infinity());
  return reshape(kept, choice.shape());
}

}  // namespace

Array scores_of(const Array& logits, RouterScore score) {
  switch (score) {
    case RouterScore::softmax: return strata::nn::softmax(logits, -1);
    case RouterScore::sigmoid: return strata::nn::sigmoid(logits);
    case RouterScore::sqrt_softplus: return sqrt(strata::nn::softplus(logits));
  }
  STRATA_UNREACHABLE("no score {}", static_cast<int>(score));
}

Gate chosen_experts(const Array& logits, const ExpertOptions& o,
                    const std::optional<Array>& choice_bias) {
  const bool softmax = o.score == RouterScore::softmax;
  const Array scores = scores_of(logits, o.score);
  // Without a bias the router's own logits are compared, so that what rounds to one score keeps its
  // order; but for sums over a group.
  const bool by_logits = !choice_bias && (o.groups == 1 || o.group_score_of == 1);
  Array choice = lax::stop_gradient(by_logits ? logits : scores);
  if (choice_bias) choice = choice + astype(lax::stop_gradient(*choice_bias), choice.dtype());
  if (o.groups > 1) choice = within_groups(choice, o);
  const Array chosen = lax::top_k(choice, o.active).second;
  Array weights = take_along_axis(scores, chosen, -1);
  if (o.renormalise) {
    const Array total = sum(weights, {.axis = -1, .keepdims = true});
    weights = weights / (softmax ? total : total + 1e-20);
  }
  return {chosen, o.scaling == 1 ? weights : weights * o.scaling};
}

}  // namespace strata::model::decoder
