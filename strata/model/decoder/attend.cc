#include "strata/model/decoder/attend.h"

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/api/numpy.h"
#include "strata/base/error.h"
#include "strata/nn/wide.h"

namespace strata::model::decoder {

namespace {

/// Which of T keys the queries see: (B or 1, 1, 1, S, T); none: all.
std::optional<Array> visible(std::int64_t queries, std::int64_t keys, const AttendOptions& o) {
  std::optional<Array> out;
  const auto also = [&](const Array& more) { out = out ? logical_and(*out, more) : more; };
  const Array behind = expand_dims(arange(queries), 1) - arange(keys);  // (S, T)
  if (o.causal) also(greater_equal(behind, 0));
  if (o.window) also(logical_or(less(behind, *o.window), less_equal(*o.window, 0)));
  if (out) out = expand_dims(*out, {0, 1, 2});
  if (o.chunk) {
    const Array at = o.positions ? *o.positions : expand_dims(arange(queries), 0);
    const Array number = where(*o.chunk > 0, floor_divide(at, maximum(*o.chunk, 1)), 0);  // (B, S)
    also(expand_dims(equal(expand_dims(number, 2), expand_dims(number, 1)), {1, 2}));
  }
  if (o.segments)
    also(expand_dims(equal(expand_dims(*o.segments, 2), expand_dims(*o.segments, 1)), {1, 2}));
  if (o.key_mask) also(expand_dims(*o.key_mask, {1, 2, 3}));
  return out;
}

}  // namespace

Array attend(const Array& q, const Array& k, const Array& v, const AttendOptions& o) {
  const std::int64_t batch = q.shape(0), queries = q.shape(1), heads = q.shape(2), dim = q.shape(3),
                     keys = k.shape(1), groups = k.shape(2);
  if (groups < 1 || heads % groups != 0)
    throw Error("attend", "{} query heads do not divide into {} key heads", heads, groups);
  const Array grouped = reshape(q, {batch, queries, groups, heads / groups, dim});
  Array scores = astype(einsum("bskgd,btkd->bkgst", grouped, k), nn::wide(q.dtype())) * o.scale;
  if (o.soft_cap != 0) scores = tanh(scores / o.soft_cap) * o.soft_cap;
  if (const std::optional<Array> seen = visible(queries, keys, o))
    scores = where(*seen, scores, -1e30);
  Array most = max(scores, {.axis = -1, .keepdims = true});
  std::optional<Array> sinks;
  if (o.sinks) {
    sinks = reshape(astype(*o.sinks, scores.dtype()), {1, groups, heads / groups, 1, 1});
    most = maximum(most, *sinks);
  }
  most = lax::stop_gradient(most);
  const Array exponentials = exp(scores - most);
  Array total = sum(exponentials, {.axis = -1, .keepdims = true});
  if (sinks) total = total + exp(*sinks - most);
  const Array weights = astype(exponentials / total, q.dtype());
  return reshape(einsum("bkgst,btke->bskge", weights, v), {batch, queries, heads, v.shape(3)});
}

}  // namespace strata::model::decoder
