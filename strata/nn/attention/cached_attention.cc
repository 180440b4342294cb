#include "strata/nn/attention/cached_attention.h"

#include <cmath>
#include <limits>

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/api/transform/control.h"
#include "strata/base/error.h"
#include "strata/nn/attention/page_format.h"
#include "strata/nn/wide.h"

namespace strata::nn {
namespace {

/// Throws Error unless x has this many dimensions.
void check_rank(const char* name, const char* what, const Array& x, int rank) {
  if (x.ndim() != rank)
    throw Error(name, "{} must have {} dimensions, got {}", what, rank, x.type());
}

/// Rows, tables and lengths of a call; throws Error where they do not belong together.
struct Layout {
  std::int64_t batch, pages, page_size, heads;
  Layout(const char* name, const Array& paged, const Array& tokens, const Array& table,
         const Array& first, const Array& count)
      : batch(tokens.shape(0)), pages(0), page_size(0), heads(0) {
    check_rank(name, "pages", paged, 4);
    check_rank(name, "page_table", table, 2);
    pages = paged.shape(0), page_size = paged.shape(1), heads = paged.shape(2);
    for (const Array* x : {&table, &first, &count})
      if (x->dtype() != DType::i32 || x->ndim() < 1 || x->shape(0) != batch)
        throw Error(name, "page_table, first and count are i32 of {} rows as the tokens, got {}",
                    batch, x->type());
    check_rank(name, "first", first, 1);
    check_rank(name, "count", count, 1);
    if (pages < 1 || page_size < 1 || table.shape(1) < 1)
      throw Error(name, "there are no pages: pages {}, page_table {}", paged.type(), table.type());
  }

  /// Page and place in it of positions (B, C), which are not negative. No number is out of range.
  struct Places {
    Array page, place;
  };
  Places places(const Array& table, const Array& positions) const {
    const Array size = broadcast_to(Array(static_cast<std::int32_t>(page_size)), positions.shape());
    const Array column =
        minimum(lax::div(positions, size), static_cast<std::int32_t>(table.shape(1)) - 1);
    const Array page = take_along_axis(table, column, 1, {.mode = "promise_in_bounds"});
    return {clip(page, 0, static_cast<std::int32_t>(pages) - 1), lax::rem(positions, size)};
  }
};

/// What is carried over the chunks, for each query: the largest score, the sum of exponentials
/// below it and their weighted sum of values.
struct Softmax {
  Array chunk;      // number of the next chunk, i32
  Array most, sum;  // (B, K, Q, 1)
  Array values;     // (B, K, Q, e)
  STRATA_FIELDS(chunk, most, sum, values)
};

}  // namespace

Array cached_attention(const Array& q, const Array& key_pages, const Array& value_pages,
                       const Array& table, const Array& first, const Array& count,
                       const CachedAttention& o) {
  constexpr const char* kName = "cached_attention";
  constexpr auto kChunk = static_cast<std::int32_t>(kCachedAttentionChunk);
  check_rank(kName, "q", q, 4);
  const Layout layout(kName, key_pages, q, table, first, count);
  check_rank(kName, "value_pages", value_pages, 4);
  const std::int64_t batch = q.shape(0), queries = q.shape(1), heads = q.shape(2), dim = q.shape(3),
                     groups = layout.heads,
                     width = o.value_width.value_or(value_pages.shape(3) -
                                                    page_width(value_pages.dtype(), 0));
  if (groups < 1 || heads % groups != 0)
    throw Error(kName, "{} query heads do not divide into {} key heads", heads, groups);
  if (!holds(key_pages.dtype(), q.dtype()) || value_pages.dtype() != key_pages.dtype() ||
      key_pages.shape(3) != page_width(key_pages.dtype(), dim))
    throw Error(kName, "q {} does not fit keys {} and values {}", q.type(), key_pages.type(),
                value_pages.type());
  if (o.value_width && (width > dim || value_pages.shape(3) != key_pages.shape(3)))
    throw Error(kName, "values of {} elements are no part of keys {} and value_pages {}", width,
                key_pages.type(), value_pages.type());
  if (width < 1) throw Error(kName, "value_pages {} hold no numbers", value_pages.type());
  for (int i = 0; i < 3; ++i)
    if (value_pages.shape(i) != key_pages.shape(i))
      throw Error(kName, "pages of keys {} and values {} differ", key_pages.type(),
                  value_pages.type());
  const std::int64_t shared = heads / groups, rows = shared * queries;
  const DType wide = nn::wide(q.dtype());
  const auto number = [&](double v) { return Array::scalar(v, wide, false); };
  const double scale = o.scale.value_or(1 / std::sqrt(static_cast<double>(dim)));
  // Below every score; finite, so that differences are numbers.
  const Array lowest = number(wide == DType::f64 ? std::numeric_limits<double>::lowest()
                                                 : std::numeric_limits<float>::lowest());

  // Queries that share a head of keys are side by side: (B, K, Q, d), Q = H / K * S.
  const Array grouped =
      reshape(transpose(reshape(q, {batch, queries, groups, shared, dim}), {0, 2, 3, 1, 4}),
              {batch, groups, rows, dim});
  const Array step = arange(queries);                                      // (S)
  const Array counts = less(step, expand_dims(count, 1));                  // (B, S)
  const Array position = where(counts, expand_dims(first, 1) + step, -1);  // (B, S); -1: no query
  const auto by_query = [&](const Array& x_BS) {                           // (B, 1, Q, 1)
    return reshape(broadcast_to(expand_dims(x_BS, {1}), {batch, shared, queries}),
                   {batch, 1, rows, 1});
  };
  const Array at = by_query(position);

  const Array last = maximum(first + count - 1, 0);  // (B): the last position that is written

  // Chunks that some query sees.
  const Array none = Array(0).astype(DType::i32);
  const Array end = floor_divide(max(position), kChunk) + 1;  // 0 without queries
  Array begin = none;
  Array oldest = Array(std::numeric_limits<std::int32_t>::min()).astype(DType::i32);  // no window
  if (o.window) {
    const Array window = o.window->astype(DType::i32);
    const Array earliest =
        min(where(counts, expand_dims(first, 1) + step, std::numeric_limits<std::int32_t>::max()));
    begin = where(window > 0, floor_divide(maximum(earliest - window + 1, 0), kChunk), 0)
                .astype(DType::i32);
    oldest = where(window > 0, at - window + 1, oldest);
  }

  if (o.chunk) {
    const Array chunk = o.chunk->astype(DType::i32), size = maximum(chunk, 1);
    const auto start_of = [&](const Array& x) {
      return maximum(x - lax::rem(x, broadcast_to(size, x.shape())), 0);
    };
    const Array earliest =
        min(where(counts, expand_dims(first, 1) + step, std::numeric_limits<std::int32_t>::max()));
    begin = maximum(begin, where(chunk > 0, floor_divide(start_of(earliest), kChunk), 0))
                .astype(DType::i32);
    oldest = maximum(oldest, where(chunk > 0, start_of(at), 0));
  }

  Softmax start;
  start.chunk = begin;
  const Sizes one = {batch, groups, rows, 1};
  start.values = zeros({batch, groups, rows, width}, wide);
  if (o.sinks) {
    if (o.sinks->ndim() != 1 || o.sinks->shape(0) != heads)
      throw Error(kName, "sinks must be of {} heads, got {}", heads, o.sinks->type());
    start.most = reshape(broadcast_to(reshape(o.sinks->astype(wide), {1, groups, shared, 1}),
                                      {batch, groups, shared, queries}),
                         one);
    start.sum = ones(one, wide);
  } else {
    start.most = broadcast_to(lowest, one);
    start.sum = zeros(one, wide);
  }

  const auto more = [&](const Softmax& s) { return s.chunk < end; };
  const auto next = [&](const Softmax& s) {
    const Array from = s.chunk * kChunk;
    const Array positions = from + arange(kCachedAttentionChunk);  // (C)
    // Behind the row's last token there may be anything, which a weight of zero would not take
    // away: that token stands in for it.
    const auto [page, place] =
        layout.places(table, minimum(expand_dims(positions, 0), expand_dims(last, 1)));
    const auto read = [&](const Array& paged) {  // (B, C, K, width of a head)
      return from_pages(paged.at({page, place}).get({.mode = "promise_in_bounds"}), q.dtype());
    };
    const Array keys = read(key_pages);
    const Array values = o.value_width ? keys[{ellipsis, slice(0, width)}] : read(value_pages);
    Array scores = lax::dot_general(grouped, keys, {{3}, {3}, {0, 1}, {0, 2}},
                                    {.preferred_element_type = wide}) *
                   number(scale);
    if (o.soft_cap != 0) scores = tanh(scores / number(o.soft_cap)) * number(o.soft_cap);
    const Array key_at = reshape(positions, {1, 1, 1, kCachedAttentionChunk});
    const Array seen = logical_and(less_equal(key_at, at), greater_equal(key_at, oldest));
    const Array masked = where(seen, scores, lowest);
    const Array most = maximum(s.most, max(masked, {.axis = -1, .keepdims = true}));
    const Array exponentials = where(seen, exp(masked - most), number(0));
    const Array shrink = exp(s.most - most);
    const Array sum = s.sum * shrink + strata::sum(exponentials, {.axis = -1, .keepdims = true});
    const Array weighted = s.values * shrink + lax::dot_general(exponentials.astype(q.dtype()),
                                                                values, {{3}, {1}, {0, 1}, {0, 2}},
                                                                {.preferred_element_type = wide});
    // A chunk behind a query leaves it as it is, to the sign of zeros.
    const Array reached = less_equal(from, at);
    return Softmax{s.chunk + 1, where(reached, most, s.most), where(reached, sum, s.sum),
                   where(reached, weighted, s.values)};
  };
  const Softmax whole = while_loop(more, next, start);
  const Array mean = where(greater_equal(at, 0), whole.values / whole.sum, number(0));
  return reshape(transpose(reshape(mean.astype(q.dtype()), {batch, groups, shared, queries, width}),
                           {0, 3, 1, 2, 4}),
                 {batch, queries, heads, width});
}

Array write_pages(const Array& pages, const Array& tokens, const Array& table, const Array& first,
                  const Array& count) {
  constexpr const char* kName = "write_pages";
  check_rank(kName, "tokens", tokens, 4);
  const Layout layout(kName, pages, tokens, table, first, count);
  if (tokens.shape(2) != pages.shape(2) || !holds(pages.dtype(), tokens.dtype()) ||
      page_width(pages.dtype(), tokens.shape(3)) != pages.shape(3))
    throw Error(kName, "tokens {} do not fit pages {}", tokens.type(), pages.type());
  const Array step = arange(tokens.shape(1));
  const Array position = expand_dims(first, 1) + step;  // (B, S)
  const auto last = static_cast<std::int32_t>(table.shape(1) * layout.page_size);
  const Array wanted = logical_and(less(step, expand_dims(count, 1)), less(position, last));
  const auto [page, place] = layout.places(table, maximum(position, 0));
  const Array kept = where(wanted, page, static_cast<std::int32_t>(layout.pages));
  return pages.at({kept, place}).set(to_pages(tokens, pages.dtype()), {.mode = "drop"});
}

}  // namespace strata::nn
