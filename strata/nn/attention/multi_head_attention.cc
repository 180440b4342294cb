#include "strata/nn/attention/multi_head_attention.h"

#include <fmt/ranges.h>

#include "strata/nn/inspect/capture.h"
#include "strata/nn/view.h"

namespace strata::nn {

namespace {
using strata::internal::describe;
using strata::internal::fail;
constexpr const char* kName = "MultiHeadAttention";

/// A layer that begins to decode makes its cache, where a view says how large.
void make_cache_of_view(MultiHeadAttention& layer, const ViewOptions& o) {
  if (!o.decode.value_or(false) || layer.cached_key || (!o.batch_size && !o.max_length)) return;
  if (!o.batch_size || !o.max_length)
    fail("view", "a cache needs batch_size and max_length, only {} is given",
         o.batch_size ? "batch_size" : "max_length");
  std::vector<std::int64_t> shape(o.batch_size->begin(), o.batch_size->end());
  shape.push_back(*o.max_length);
  shape.push_back(layer.query.kernel.shape(0));
  layer.init_cache(shape, layer.product.dtype.value_or(DType::f32));
}
[[maybe_unused]] const bool registered = [] {
  on_view<MultiHeadAttention>({"batch_size", "max_length"}, make_cache_of_view);
  return true;
}();

const Metadata& given_or(const Metadata& given, const Metadata& other) {
  return given.empty() ? other : given;
}
}  // namespace

MultiHeadAttention::MultiHeadAttention(std::int64_t heads, std::int64_t in_features, Rngs& streams,
                                       const MultiHeadAttentionOptions& o)
    : num_heads(heads),
      num_kv_heads(o.num_kv_heads.value_or(heads)),
      dropout_rate(o.dropout_rate),
      broadcast_dropout(o.broadcast_dropout),
      deterministic(o.deterministic),
      decode(o.decode),
      product(o.product),
      attention_fn(o.attention_fn) {
  const std::int64_t qkv_features = o.qkv_features.value_or(in_features);
  if (num_heads < 1 || num_kv_heads < 1 || num_heads % num_kv_heads != 0)
    fail(kName, "num_heads {} is no multiple of num_kv_heads {}", num_heads, num_kv_heads);
  if (qkv_features % num_heads != 0)
    fail(kName, "{} features cannot be shared among {} heads", qkv_features, num_heads);
  const std::int64_t d = qkv_features / num_heads;

  const LinearGeneralOptions linear{.use_bias = o.use_bias,
                                    .kernel_init = o.kernel_init,
                                    .bias_init = o.bias_init,
                                    .param_dtype = o.param_dtype,
                                    .product = o.product,
                                    .kernel_metadata = o.kernel_metadata,
                                    .bias_metadata = o.bias_metadata};
  const std::int64_t in_kv = o.in_kv_features.value_or(in_features);
  query = LinearGeneral(in_features, {num_heads, d}, streams, linear);
  key = LinearGeneral(in_kv, {num_kv_heads, d}, streams, linear);
  value = LinearGeneral(in_kv, {num_kv_heads, d}, streams, linear);
  if (o.normalize_qk) {
    const auto norm = [&](const Metadata& notes) {
      return LayerNorm(d, streams,
                       {.dtype = o.product.dtype,
                        .param_dtype = o.param_dtype,
                        .use_bias = false,
                        .scale_metadata = notes});
    };
    query_ln = norm(o.query_ln_scale_metadata);
    key_ln = norm(o.key_ln_scale_metadata);
  }
  LinearGeneralOptions last = linear;
  last.axis = {-2, -1};
  last.kernel_init = o.out_kernel_init.value_or(o.kernel_init);
  last.bias_init = o.out_bias_init.value_or(o.bias_init);
  last.kernel_metadata = given_or(o.out_kernel_metadata, o.kernel_metadata);
  last.bias_metadata = given_or(o.out_bias_metadata, o.bias_metadata);
  out = LinearGeneral({num_heads, d}, o.out_features.value_or(in_features), streams, last);
  if (o.keep_rngs && dropout_rate > 0) rngs = streams["dropout"].fork();
}

void MultiHeadAttention::init_cache(const Sizes& input_shape, DType dtype) {
  if (input_shape.size() < 2)
    fail(kName, "a cache is for inputs (batch..., max_length, features), got {} sizes",
         input_shape.size());
  std::vector<std::int64_t> shape(input_shape.begin(), input_shape.end() - 1);
  shape.push_back(num_kv_heads);
  shape.push_back(key.kernel.shape(-1));
  const auto empty = [](const Array& value) { return std::optional<Cache>(Cache(value)); };
  cached_key = empty(numpy::zeros(shape, dtype));
  cached_value = empty(numpy::zeros(shape, dtype));
  cache_index = empty(Array::scalar(std::int64_t{0}, DType::i32, false));
}

std::optional<Array> MultiHeadAttention::remember(Array& k, Array& v,
                                                  const std::optional<Array>& mask) {
  if (!cached_key || !cached_value || !cache_index)
    fail(kName, "it decodes and has no cache; call init_cache({{batch..., max_length, features}})");
  std::vector<std::int64_t> one = cached_key->shape().sizes();
  const std::size_t batch_dims = one.size() - 3;
  const std::int64_t max_length = std::exchange(one[batch_dims], 1);
  if (k.shape().sizes() != one)
    fail(kName,
         "a call that decodes takes one token for each sequence of the cache {}: keys [{}], got {}",
         describe(cached_key->type()), fmt::join(one, ","), describe(k.type()));
  const Array index = *cache_index;
  // Traced indices are clamped, as lax::dynamic_update_slice does.
  if (!index.is_traced() && index.item<std::int64_t>() >= max_length)
    fail(kName, "the cache {} is full: this is token {} (from 0); init_cache begins again",
         describe(cached_key->type()), index.item<std::int64_t>());
  const Array zero = Array::scalar(std::int64_t{0}, DType::i32, false);
  std::vector<Array> starts(one.size(), zero);
  starts[batch_dims] = index;
  const auto write = [&](Cache& cache, Array& now) {
    cache = lax::dynamic_update_slice(cache, astype(now, cache.dtype()), starts);
    now = cache;
  };
  write(*cached_key, k);
  write(*cached_value, v);
  *cache_index = index + Array::scalar(std::int64_t{1}, DType::i32, false);
  one[batch_dims] = 1;
  std::vector<std::int64_t> shape(one.begin(),
                                  one.begin() + static_cast<std::ptrdiff_t>(batch_dims));
  shape.insert(shape.end(), {1, 1, max_length});
  const Array seen = numpy::broadcast_to(numpy::arange(max_length, DType::i32) <= index, shape);
  return combine_masks({mask, seen});
}

Array MultiHeadAttention::operator()(const Array& q, const MultiHeadAttentionCall& call) {
  return (*this)(q, q, q, call);
}
Array MultiHeadAttention::operator()(const Array& q, const Array& k,
                                     const MultiHeadAttentionCall& call) {
  return (*this)(q, k, k, call);
}
Array MultiHeadAttention::operator()(const Array& inputs_q, const Array& inputs_k,
                                     const Array& inputs_v, const MultiHeadAttentionCall& call) {
  const ModuleScope scope(*this, kName);
  const std::int64_t features = query.kernel.shape(0);
  if (inputs_q.ndim() < 2 || inputs_q.shape(-1) != features)
    fail(kName, "the queries' input is {}, wanted (batch..., length, {})",
         describe(inputs_q.type()), features);
  const std::optional<bool> decodes = call.decode ? call.decode : decode;
  if (!decodes)
    fail(kName, "it is not said whether it decodes; set .decode in its options or in the call");
  const bool drops = dropout_rate > 0;
  const std::optional<bool> fixed = call.deterministic ? call.deterministic : deterministic;
  if (drops && !fixed)
    fail(kName,
         "dropout_rate is {} and it is not said whether to drop; set .deterministic in its options "
         "or in the call",
         dropout_rate);

  Array q = query(inputs_q), k = key(inputs_k), v = value(inputs_v);
  if (query_ln) q = (*query_ln)(q);
  if (key_ln) k = (*key_ln)(k);
  std::optional<Array> mask = call.mask;
  if (*decodes) mask = remember(k, v, mask);

  AttendOptions options{.mask = mask,
                        .is_causal = call.is_causal,
                        .dropout_rate = dropout_rate,
                        .broadcast_dropout = broadcast_dropout,
                        .deterministic = !drops || *fixed,
                        .dtype = product.dtype,
                        .precision = product.precision,
                        .observe = call.observe};
  if (call.sow_weights)
    options.observe = [&](const Array& weights) {
      if (call.observe) call.observe(weights);
      sow("attention_weights", weights);
    };
  if (!options.deterministic) {
    const LentStream stream = call.rngs ? call.rngs : LentStream(rngs);
    if (!stream)
      fail(kName, "dropout_rate is {} and there is no stream; give the call .rngs, or keep_rngs",
           dropout_rate);
    options.dropout_rng = stream("dropout");
  }
  std::vector<Array> inputs = {inputs_q};
  if (inputs_k.state() != inputs_q.state() || inputs_v.state() != inputs_k.state())
    inputs.insert(inputs.end(), {inputs_k, inputs_v});
  return scope.returns(out(attention_fn(q, k, v, options)), inputs);
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::MultiHeadAttention)
