#include "strata/api/numpy/histograms.h"

#include "strata/api/index.h"
#include "strata/api/lax/operations.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/index/selection.h"
#include "strata/api/numpy/index/sized.h"
#include "strata/api/numpy/index/sorting.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/joining.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/numpy/statistics.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"

namespace strata::numpy {

using internal::cast;
using internal::describe;
using internal::fail;
using internal::index_dtype;
using internal::Site;

Array bincount(const Operand& operand, const BinCount& options) {
  Site site(operand);
  if (operand->ndim() != 1)
    fail("bincount", "a vector is needed, got {}", describe(operand->type()));
  if (!is_integer(operand->dtype()) && !is_bool(operand->dtype()))
    fail("bincount", "integers are counted, got {}", describe(operand->type()));
  const Array x = is_bool(operand->dtype()) ? operand->astype(int32) : operand.array;
  if (!options.length)
    internal::require_known("bincount", operand,
                            "give length, or call it outside of jit, vmap and grad");
  const std::int64_t length =
      options.length
          ? *options.length
          : std::max(
                options.minlength,
                x.size() == 0 ? 0 : std::max<std::int64_t>(0, max(x).item<std::int64_t>()) + 1);
  if (length < 0) fail("bincount", "length is at least 0, got {}", length);
  if (options.weights && options.weights->shape() != x.shape())
    fail("bincount", "one weight for each element of {} is needed, got {}", describe(x.type()),
         describe(options.weights->type()));
  const Array weights =
      options.weights ? internal::strong(*options.weights) : ones({}, index_dtype());
  const Array none = zeros(length, weights.dtype());
  return length == 0 || x.size() == 0 ? none : none.at(maximum(x, 0)).add(weights);
}

namespace {

/// n + 1 numbers from low to high.
Array spaced(const Array& low, const Array& high, std::int64_t n, DType dtype) {
  if (n == 0) return reshape(low, 1);
  const Array way = divide(lax::iota(dtype, n), static_cast<double>(n));
  return concatenate({low * (1 - way) + high * way, reshape(high, 1)});
}

Array edges_of(const char* name, const Array& x, const Bins& bins, const Range& range) {
  const DType dtype = internal::inexact({x.dtype(), false}).dtype;
  const auto edge = [&](const Array& a) { return cast(a, {dtype, false}); };
  if (bins.edges()) {
    if (bins.edges()->ndim() != 1)
      fail(name, "the edges are a vector, got {}", describe(bins.edges()->type()));
    return edge(*bins.edges());
  }
  if (bins.count() < 0) fail(name, "the number of bins is at least 0, got {}", bins.count());
  const Array low = edge(range ? (*range)[0] : min(x)), high = edge(range ? (*range)[1] : max(x));
  const Array apart =
      where(low == high, Array::scalar(0.5, dtype, false), Array::scalar(0.0, dtype, false));
  return spaced(low - apart, high + apart, bins.count(), dtype);
}

/// The number of the bin for each element, counted from 1; 0 and one beyond the last for what is
/// outside.
Array numbers_of(const Array& edges, const Array& x) {
  const Array number = searchsorted(edges, x, "right");
  return where(x == edges[-1], edges.size() - 1, number);
}

}  // namespace

Array histogram_bin_edges(const Operand& x, const Bins& bins, const Range& range) {
  Site site(x);
  return edges_of("histogram_bin_edges", x, bins, range);
}

std::pair<Array, Array> histogram(const Operand& x, const Bins& bins, const Histogram& options) {
  Site site(x);
  if (options.weights && options.weights->shape() != x->shape())
    fail("histogram", "one weight for each element of {} is needed, got {}", describe(x->type()),
         describe(options.weights->type()));
  const Array both[] = {x.array, options.weights.value_or(x.array)};
  const DType dtype = internal::inexact(internal::promoted("histogram", both)).dtype;
  const Array values = ravel(cast(x, {dtype, false})),
              weights = options.weights ? ravel(cast(*options.weights, {dtype, false}))
                                        : ones_like(values);
  const Array edges = edges_of("histogram", values, bins, options.range);
  const Array all = zeros(edges.size(), dtype);
  const Array counts =
      (values.size() == 0 ? all : all.at(numbers_of(edges, values)).add(weights))[slice(1, none)];
  if (!options.density) return {counts, edges};
  return {counts / diff(edges) / sum(counts), edges};
}

std::pair<Array, std::vector<Array>> histogramdd(const Operand& operand,
                                                 const std::vector<Bins>& bins,
                                                 const HistogramDD& options) {
  Site site(operand);
  if (operand->ndim() != 2)
    fail("histogramdd", "samples are the rows of a matrix, got {}", describe(operand->type()));
  const std::int64_t n = operand->shape(0), dimensions = operand->shape(1);
  const auto count = static_cast<std::size_t>(dimensions);
  if (bins.size() != 1 && bins.size() != count)
    fail("histogramdd", "bins for each of {} dimensions are needed, got {}", dimensions,
         bins.size());
  if (!options.range.empty() && options.range.size() != count)
    fail("histogramdd", "a range for each of {} dimensions is needed, got {}", dimensions,
         options.range.size());
  if (options.weights && (options.weights->ndim() != 1 || options.weights->size() != n))
    fail("histogramdd", "one weight for each of {} samples is needed, got {}", n,
         describe(options.weights->type()));
  const Array both[] = {operand.array, options.weights.value_or(operand.array)};
  const DType dtype = internal::inexact(internal::promoted("histogramdd", both)).dtype;
  const Array sample = cast(operand, {dtype, false});

  std::vector<Array> numbers, edges;
  std::vector<std::int64_t> sizes;
  std::vector<Index> inner;
  for (std::int64_t d = 0; d < dimensions; ++d) {
    const auto i = static_cast<std::size_t>(d);
    const Array x = sample[{ellipsis, d}];
    edges.push_back(edges_of("histogramdd", x, bins[bins.size() == 1 ? 0 : i],
                             options.range.empty() ? std::nullopt : options.range[i]));
    numbers.push_back(numbers_of(edges.back(), x));
    sizes.push_back(edges.back().size() + 1);
    inner.emplace_back(slice(1, -1));
  }
  const Array flat = ravel_multi_index(numbers, sizes, {.mode = "clip"});
  const std::optional<Array> weights =
      options.weights ? std::optional(cast(*options.weights, {dtype, false})) : std::nullopt;
  std::int64_t cells = 1;
  for (std::int64_t s : sizes) cells *= s;
  Array counts =
      bincount(flat, {.weights = weights, .length = cells}).reshape(sizes)[Indices(inner)];
  if (!options.density) return {counts, edges};
  counts = cast(counts, {dtype, false});
  counts = counts / sum(counts);
  std::vector<Array> widths;
  for (const Array& e : edges) widths.push_back(diff(e));
  for (const Array& w : ix_(widths)) counts = counts / w;
  return {counts, edges};
}

std::tuple<Array, Array, Array> histogram2d(const Operand& x, const Operand& y,
                                            const std::vector<Bins>& bins,
                                            const HistogramDD& options) {
  Site site(x);
  if (x->ndim() != 1 || y->ndim() != 1 || x->size() != y->size())
    fail("histogram2d", "two vectors of one size are needed, got {} and {}", describe(x->type()),
         describe(y->type()));
  auto [counts, edges] = histogramdd(stack({x, y}, -1), bins, options);
  return {counts, edges[0], edges[1]};
}

}  // namespace strata::numpy
