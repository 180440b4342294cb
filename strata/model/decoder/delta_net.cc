#include "strata/model/decoder/delta_net.h"

#include <cmath>
#include <limits>

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/api/nn.h"
#include "strata/api/numpy.h"
#include "strata/api/transform/control.h"
#include "strata/nn/transform/named_tensors.h"
#include "strata/nn/wide.h"

namespace strata::model::decoder {

namespace {

using Borders = std::vector<std::int64_t>;

/// What goes into the rule, but for the convolution: (B, S, C), (B, S, Hv dv), (B, S, Hv) twice.
struct Projected {
  Array mixed, z, log_decay, beta;
};
Projected project(const DeltaNet& w, const Array& x, const Options& o) {
  const DeltaOptions& d = o.delta;
  const std::int64_t batch = x.shape(0), length = x.shape(1), each = d.value_heads / d.key_heads;
  const DType wide = nn::wide(x.dtype());
  const std::int64_t values = each * d.value_dim;
  const std::vector<Array> parts =
      split(reshape(nn::named(w.qkvz(x), "qkv_proj"),
                    {batch, length, d.key_heads, 2 * d.key_dim + 2 * values}),
            Borders{d.key_dim, 2 * d.key_dim, 2 * d.key_dim + values}, -1);
  const auto flat = [&](const Array& y) {
    return reshape(y, {batch, length, y.size() / (batch * length)});
  };
  const std::vector<Array> gates =
      split(reshape(w.ba(x), {batch, length, d.key_heads, 2 * each}), Borders{each}, -1);
  const Array a = astype(flat(gates[1]), wide) + astype(w.dt_bias, wide);
  return {concatenate({flat(parts[0]), flat(parts[1]), flat(parts[2])}, -1), flat(parts[3]),
          -exp(astype(w.a_log, wide)) * strata::nn::softplus(a),
          astype(strata::nn::sigmoid(flat(gates[0])), wide)};
}

/// silu of the sum over the last W tokens of the same text: mixed (B, S, C), what stood before it
/// (B, W - 1, C).
Array convolved(const DeltaNet& w, const Array& mixed, const Array& before,
                const Array& positions) {
  const std::int64_t taps = before.shape(1) + 1, length = mixed.shape(1);
  const Array all = concatenate({before, mixed}, 1);
  std::optional<Array> out;
  for (std::int64_t k = 0; k < taps; ++k) {
    const Array seen = all[{slice(), slice(k, k + length)}];
    // Of tokens ahead of the text's first one there is nothing.
    const Array there = expand_dims(greater_equal(positions, static_cast<int>(taps - 1 - k)), -1);
    const Array term = where(there, seen * astype(Array(w.conv)[k], mixed.dtype()), 0.0f);
    out = out ? *out + term : term;
  }
  return strata::nn::silu(*out);
}

/// Queries, keys and values of each head of values: (S, B, Hv, dk) twice and (S, B, Hv, dv).
struct Steps {
  Array query, key, value, log_decay, beta, starts, number;
  STRATA_FIELDS(query, key, value, log_decay, beta, starts, number)
};
Steps steps_of(const Array& conv, const Projected& p, const Options& o, const Array& positions) {
  const DeltaOptions& d = o.delta;
  const std::int64_t batch = conv.shape(0), length = conv.shape(1), keys = d.key_heads * d.key_dim;
  const std::vector<Array> parts = split(conv, Borders{keys, 2 * keys}, -1);
  const DType wide = nn::wide(conv.dtype());
  const auto by_time = [](const Array& y) { return moveaxis(y, 1, 0); };
  const auto unit = [&](const Array& y) {
    const Array heads = astype(reshape(y, {batch, length, d.key_heads, 1, d.key_dim}), wide);
    const Array square = sum(heads * heads, {.axis = -1, .keepdims = true});
    const Array normed = heads * lax::rsqrt(square + 1e-6);
    const std::int64_t each = d.value_heads / d.key_heads;
    return reshape(broadcast_to(normed, {batch, length, d.key_heads, each, d.key_dim}),
                   {batch, length, d.value_heads, d.key_dim});
  };
  const double scale = 1 / std::sqrt(static_cast<double>(d.key_dim));
  const Array value = astype(reshape(parts[2], {batch, length, d.value_heads, d.value_dim}), wide);
  return {by_time(unit(parts[0]) * scale),
          by_time(unit(parts[1])),
          by_time(value),
          by_time(p.log_decay),
          by_time(p.beta),
          by_time(broadcast_to(equal(positions, 0), {batch, length})),
          arange(length)};
}

/// One token: state (B, Hv, dk, dv) and what it is behind it, and the token's (B, Hv, dv).
std::pair<Array, Array> step(const Array& before, const Steps& s) {
  const Array kept = where(expand_dims(s.starts, {1, 2, 3}), 0.0f, before) *
                     expand_dims(exp(s.log_decay), {-1, -2});
  const Array known = sum(kept * expand_dims(s.key, -1), -2);
  const Array change = (s.value - known) * expand_dims(s.beta, -1);
  const Array after = kept + expand_dims(s.key, -1) * expand_dims(change, -2);
  return {after, sum(after * expand_dims(s.query, -1), -2)};
}

/// From what the rule gives, (S, B, Hv, dv).
Array finished(const DeltaNet& w, const Array& values, const Projected& p, const Options& o,
               const Array& x) {
  const DeltaOptions& d = o.delta;
  const std::int64_t batch = x.shape(0), length = x.shape(1);
  const Array y = astype(moveaxis(values, 0, 1), x.dtype());
  const Array normed = w.norm(y, NormKind::llama, o.epsilon);
  const Array z = reshape(p.z, {batch, length, d.value_heads, d.value_dim});
  const DType wide = nn::wide(x.dtype());
  const Array gated = astype(astype(normed, wide) * strata::nn::silu(astype(z, wide)), x.dtype());
  return nn::named(w.out(reshape(gated, {batch, length, d.value_heads * d.value_dim})), "out_proj");
}

/// What is carried over the tokens of a call with a cache.
struct Carried {
  Array state, window, inputs_pages, state_pages, token_pages;
  STRATA_FIELDS(state, window, inputs_pages, state_pages, token_pages)
};
/// A token's part, and what the convolution saw of it.
struct CachedStep {
  Steps steps;
  Array mixed;
  STRATA_FIELDS(steps, mixed)
};

}  // namespace

Array DeltaNet::operator()(const Array& x, const Options& o, const Array& positions) const {
  const nn::ModuleScope scope(*this, "DeltaNet");
  const DeltaOptions& d = o.delta;
  const Projected p = project(*this, x, o);
  const Array nothing = zeros({x.shape(0), d.taps - 1, p.mixed.shape(2)}, x.dtype());
  const Steps steps = steps_of(convolved(*this, p.mixed, nothing, positions), p, o, positions);
  const Array start =
      zeros({x.shape(0), d.value_heads, d.key_dim, d.value_dim}, nn::wide(x.dtype()));
  const auto [last, values] = scan(
      [](const Array& state, const Steps& s) {
        auto [after, y] = step(state, s);
        return std::pair(after, y);
      },
      start, steps);
  return scope.returns(finished(*this, values, p, o, x), x);
}

Array DeltaNet::operator()(const Array& x, const Options& o, const Array& positions,
                           DeltaPages& pages, const DeltaPlaces& at) const {
  const nn::ModuleScope scope(*this, "DeltaNet");
  const std::int64_t last_column = at.pages.shape(1) - 1;
  const auto page_of = [&](const Array& position) {  // (B)
    const Array column = minimum(floor_divide(maximum(position, 0), static_cast<int>(at.page_size)),
                                 static_cast<int>(last_column));
    return squeeze(take_along_axis(at.pages, expand_dims(column, 1), 1, {.mode = "clip"}), {1});
  };
  const auto of_page = [](const Array& all, const Array& page) {
    return take(all, page, 0, {.mode = "clip"});
  };
  const Array before = page_of(at.first - 1);
  const DType wide = nn::wide(x.dtype());
  // Where a sequence begins nothing is read; elsewhere the page must hold just what comes before.
  const Array goes_on =
      logical_or(equal(at.first, 0), equal(squeeze(of_page(pages.tokens, before), {1}), at.first));
  const Array state = where(expand_dims(goes_on, {1, 2, 3}), of_page(pages.state, before),
                            Array::scalar(std::numeric_limits<double>::quiet_NaN(), wide, false));
  const Array window = squeeze(of_page(pages.inputs, before), {1});
  const Projected p = project(*this, x, o);
  const Steps steps = steps_of(convolved(*this, p.mixed, window, positions), p, o, positions);
  const auto [last, values] = scan(
      [&](const Carried& c, const CachedStep& s) {
        auto [after, y] = step(c.state, s.steps);
        const Array seen = concatenate(
            {c.window[{slice(), slice(1, c.window.shape(1))}], expand_dims(s.mixed, 1)}, 1);
        const Array counts = less(s.steps.number, at.count);
        const Array position = at.first + s.steps.number;
        const Array page = where(counts, page_of(position), static_cast<int>(pages.state.shape(0)));
        const auto put = [&](const Array& all, const Array& values) {
          return all.at({page}).set(values, {.mode = "drop"});
        };
        return std::pair(
            Carried{after, seen, put(c.inputs_pages, expand_dims(seen, 1)),
                    put(c.state_pages, after), put(c.token_pages, expand_dims(position + 1, 1))},
            y);
      },
      Carried{state, window, pages.inputs, pages.state, pages.tokens},
      CachedStep{steps, moveaxis(p.mixed, 1, 0)});
  pages = {last.inputs_pages, last.state_pages, last.token_pages};
  return scope.returns(finished(*this, values, p, o, x), x);
}

}  // namespace strata::model::decoder
