#include "strata/nn/attention/attend.h"

#include <cmath>
#include <numeric>

#include "strata/api/nn.h"
#include "strata/api/nn/attention_by.h"
#include "strata/api/random.h"
#include "strata/nn/dtypes.h"

namespace strata::nn {

namespace {

using strata::internal::describe;
using strata::internal::fail;
using Ints = std::vector<std::int64_t>;

/// x's shape with its last `drop` sizes replaced.
Ints with_last(const Array& x, std::size_t drop, std::initializer_list<std::int64_t> last) {
  Ints out = x.shape().sizes();
  out.resize(out.size() - drop);
  out.insert(out.end(), last);
  return out;
}

void check_query_and_key(const Array& query, const Array& key) {
  if (query.ndim() < 3 || key.ndim() != query.ndim())
    fail("attend", "query and key are (batch..., length, heads, features), got {} and {}",
         describe(query.type()), describe(key.type()));
  for (int i = 0; i + 3 < query.ndim(); ++i)
    if (query.shape(i) != key.shape(i))
      fail("attend", "query {} and key {} have other batches", describe(query.type()),
           describe(key.type()));
  if (query.shape(-1) != key.shape(-1))
    fail("attend", "the heads of the query have {} features ({}), those of the key {} ({})",
         query.shape(-1), describe(query.type()), key.shape(-1), describe(key.type()));
  if (key.shape(-2) == 0 || query.shape(-2) % key.shape(-2) != 0)
    fail("attend", "{} heads of the query are no multiple of {} heads of the key", query.shape(-2),
         key.shape(-2));
}

void check_value(const Array& key, const Array& value) {
  bool fits = value.ndim() == key.ndim() && value.shape(-3) == key.shape(-3);
  for (int i = 0; fits && i + 3 < key.ndim(); ++i) fits = value.shape(i) == key.shape(i);
  if (!fits)
    fail("attend", "key {} and value {} have other batches or lengths", describe(key.type()),
         describe(value.type()));
}

/// x with all axes before its last three as one.
Array one_batch(const Array& x) {
  const Ints sizes = x.shape().sizes();
  const auto last = sizes.end() - 3;
  Ints shape{std::accumulate(sizes.begin(), last, std::int64_t{1}, std::multiplies<>())};
  shape.insert(shape.end(), last, sizes.end());
  return numpy::reshape(x, shape);
}

Array by_jax(Array query, Array key, Array value, const AttendOptions& o) {
  DotProductAttention options{.bias = o.bias, .mask = o.mask, .is_causal = o.is_causal};
  const Ints shape = with_last(query, 1, {value.shape(-1)});
  if (query.ndim() > 4) {
    for (Array* x : {&query, &key, &value}) *x = one_batch(*x);
    for (std::optional<Array>* x : {&options.bias, &options.mask})
      if (*x) *x = one_batch(**x);
  }
  if (options.mask) options.mask = astype(*options.mask, DType::i1);
  const auto product = [](const Array& lhs, const Array& rhs,
                          const lax::DotDimensionNumbers& dimensions,
                          std::optional<DType> preferred) {
    return dot_general(lhs, rhs, dimensions, {.preferred_element_type = preferred});
  };
  const Array out = detail::dot_product_attention_by(product, query, key, value, options);
  return numpy::reshape(out, shape);
}

}  // namespace

Array attention_weights(const Array& query_in, const Array& key_in, const AttendOptions& o) {
  Array query = query_in, key = key_in;
  promote_dtype({&query, &key}, o.dtype);
  const DType dtype = query.dtype();
  check_query_and_key(query, key);
  const std::int64_t heads = query.shape(-2), kv_heads = key.shape(-2);
  const ProductOptions product{.precision = o.precision};
  const float depth = std::sqrt(static_cast<float>(query.shape(-1)));
  query = query / astype(Array(depth), dtype);

  Array weights;
  if (heads != kv_heads) {
    const Array grouped =
        numpy::reshape(query, with_last(query, 2, {kv_heads, heads / kv_heads, query.shape(-1)}));
    weights = einsum("...qhgd,...kh1d->...hgqk", grouped, numpy::expand_dims(key, -2), product);
    weights = numpy::reshape(weights,
                             with_last(weights, 4, {heads, weights.shape(-2), weights.shape(-1)}));
  } else {
    weights = einsum("...qhd,...khd->...hqk", query, key, product);
  }
  if (o.bias) weights = weights + *o.bias;
  if (o.mask || o.is_causal) {
    std::optional<Array> causal;
    if (o.is_causal) {
      const Array lower = numpy::tril(numpy::ones({weights.shape(-2), weights.shape(-1)}, dtype));
      causal = numpy::broadcast_to(lower, o.mask ? o.mask->shape() : weights.shape());
    }
    const std::optional<Array> mask = combine_masks({o.mask, causal}, dtype);
    const Array least = Array::scalar(numpy::finfo(dtype).min, dtype, false);
    weights = numpy::where(astype(*mask, DType::i1), weights, least);
  }
  weights = astype(softmax(weights), dtype);
  if (o.observe) o.observe(weights);
  if (o.deterministic || o.dropout_rate <= 0) return weights;

  if (!o.dropout_rng)
    fail("attend", "dropout with rate {} needs a key: give dropout_rng, or deterministic = true",
         o.dropout_rate);
  const double keep_prob = 1 - o.dropout_rate;
  Ints shape = weights.shape().sizes();
  if (o.broadcast_dropout) std::fill(shape.begin(), shape.end() - 2, 1);
  const Array keep = random::bernoulli(*o.dropout_rng, keep_prob, shape);
  return weights * (astype(keep, dtype) / astype(Array(static_cast<float>(keep_prob)), dtype));
}

Array attend(const Array& query_in, const Array& key_in, const Array& value_in,
             const AttendOptions& options) {
  Array query = query_in, key = key_in, value = value_in;
  promote_dtype({&query, &key, &value}, options.dtype);
  check_query_and_key(query, key);
  check_value(key, value);
  if (options.dropout_rate == 0 && !options.observe) return by_jax(query, key, value, options);

  AttendOptions o = options;
  o.dtype = query.dtype();
  Array weights = attention_weights(query, key, o);
  const ProductOptions product{.precision = o.precision};
  const std::int64_t heads = weights.shape(-3), value_heads = value.shape(-2);
  if (heads == value_heads) return einsum("...hqk,...khd->...qhd", weights, value, product);
  if (value_heads == 0 || heads % value_heads != 0)
    fail("attend", "{} heads of the query are no multiple of {} heads of the value", heads,
         value_heads);
  weights = numpy::reshape(
      weights, with_last(weights, 3,
                         {value_heads, heads / value_heads, weights.shape(-2), weights.shape(-1)}));
  const Array out =
      einsum("...hgqk,...kh1d->...qhgd", weights, numpy::expand_dims(value, -2), product);
  return numpy::reshape(out, with_last(out, 3, {heads, out.shape(-1)}));
}

Array make_attention_mask(const Operand& query_input, const Operand& key_input,
                          const AttentionMaskOptions& o) {
  strata::internal::Site site(query_input);
  const Array q = numpy::expand_dims(query_input, -1), k = numpy::expand_dims(key_input, -2);
  Array mask = numpy::expand_dims(o.pairwise_fn ? o.pairwise_fn(q, k) : q * k, -3);
  if (o.extra_batch_dims < 0)
    fail("make_attention_mask", "extra_batch_dims is {}", o.extra_batch_dims);
  Ints shape(static_cast<std::size_t>(o.extra_batch_dims), 1);
  const Ints sizes = mask.shape().sizes();
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  return astype(numpy::reshape(mask, shape), o.dtype);
}

Array make_causal_mask(const Operand& x, const AttentionMaskOptions& options) {
  strata::internal::Site site(x);
  if (x->ndim() == 0) fail("make_causal_mask", "the input is (batch..., length), got a scalar");
  const Array places = numpy::broadcast_to(numpy::arange(x->shape(-1), DType::i32), x->shape());
  AttentionMaskOptions o = options;
  o.pairwise_fn = [](const Array& q, const Array& k) { return q >= k; };
  return make_attention_mask(places, places, o);
}

std::optional<Array> combine_masks(const std::vector<std::optional<Array>>& masks, DType dtype) {
  std::optional<Array> out;
  for (const std::optional<Array>& mask : masks) {
    if (!mask) continue;
    if (out && out->ndim() != mask->ndim())
      fail("combine_masks", "masks of different ranks: {} and {}", describe(out->type()),
           describe(mask->type()));
    out = out ? numpy::logical_and(*out, *mask) : *mask;
  }
  if (out) out = astype(*out, dtype);
  return out;
}

}  // namespace strata::nn
