#include "strata/model/decoder/routing.h"

#include <algorithm>

#include "strata/api/numpy.h"
#include "strata/base/error.h"

namespace strata::model::decoder {

Array assignments(const Array& experts, std::int64_t count) {
  return equal(expand_dims(experts, -1), arange(count));
}

Routes route(const Array& logits, const std::optional<Array>& bias, const ExpertOptions& o) {
  if (logits.ndim() < 1 || logits.shape(-1) != o.count)
    throw Error("route", "logits are {}: their last dimension must be the {} experts",
                logits.type().to_string(), o.count);
  if (bias.has_value() != o.choice_bias)
    throw Error("route", "choice_bias={}, but a bias is {}", o.choice_bias,
                bias ? "given" : "missing");
  const Gate gate = chosen_experts(logits, o, bias);
  Routes out{.experts = gate.experts,
             .weights = gate.weights,
             .logits = logits,
             .scores = scores_of(logits, o.score)};
  if (o.capacity > 0) {
    out.kept = places_left(out.experts, o);
    out.weights = where(*out.kept, out.weights, zeros_like(out.weights));
  }
  return out;
}

std::int64_t places_of(const ExpertOptions& o, std::int64_t length) {
  const auto share = static_cast<double>((length * o.active + o.count - 1) / o.count);
  return static_cast<std::int64_t>(std::max(share * o.capacity, o.capacity));
}

Array places_left(const Array& experts, const ExpertOptions& o) {
  if (experts.ndim() < 2)
    throw Error("route", "capacity={} needs tokens of a sequence, got experts {}", o.capacity,
                experts.type().to_string());
  const std::int64_t length = experts.shape(-2);
  std::vector<std::int64_t> flat = experts.shape().sizes();
  flat.pop_back();
  flat.back() = length * o.active;
  const Array here = assignments(reshape(experts, flat), o.count);  // (..., S K, E)
  const Array so_far = cumsum(astype(here, DType::i32), static_cast<std::int64_t>(here.ndim()) - 2);
  const Array place = sum(where(here, so_far, Array(0)), -1);  // from 1
  return reshape(less_equal(place, Array(static_cast<std::int32_t>(places_of(o, length)))),
                 experts.shape());
}

}  // namespace strata::model::decoder
