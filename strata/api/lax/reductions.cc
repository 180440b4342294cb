#include "strata/api/lax/reductions.h"

#include <algorithm>

#include "strata/api/lax/operations.h"
#include "strata/api/lax/scan.h"
#include "strata/api/lax_elementwise.h"
#include "strata/api/numpy/constants.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/index/indexing.h"
#include "strata/api/numpy/index/sorting.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/trace/compose.h"
#include "strata/ir/text/combiner_text.h"
#include "strata/op/reduce/combiner.h"
#include "strata/op/reduce/cumulative.h"

namespace strata::lax {
namespace {

using internal::axis_of;
using internal::Builder;
using internal::cast;
using internal::describe;
using internal::emit_one;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::Value;
using internal::Values;
using op::Combiner;

/// Axes in order; none negative, none twice.
Ints ordered(const char* name, const Array& x, const Sizes& axes) {
  Ints out = axes.get();
  std::sort(out.begin(), out.end());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] < 0 || out[i] >= x.ndim())
      fail(name, "axis {} is out of range for {}", out[i], describe(x.type()));
    if (i > 0 && out[i] == out[i - 1]) fail(name, "axis {} is given twice", out[i]);
  }
  return out;
}

Array reduced(const char* name, const Operand& x, const Sizes& axes, Combiner combiner) {
  Site site(x);
  const Ints dims = ordered(name, x, axes);
  return emit_one({x}, x->weak(),
                  [&](Builder& b, const Values& v) { return op::reduce(b, v[0], dims, combiner); });
}
/// The greatest or least elements; of none, the infinity that changes nothing.
Array extreme(const char* name, const Operand& x, const Sizes& axes, bool greatest) {
  if (is_bool(x->dtype())) return reduced(name, x, axes, greatest ? Combiner::or_ : Combiner::and_);
  if (!is_complex(x->dtype()))
    return reduced(name, x, axes, greatest ? Combiner::max : Combiner::min);
  Site site(x);
  const Ints dims = ordered(name, x, axes);
  const Reduce options{.axis = dims, .initial = Array::scalar(greatest ? -numpy::inf : numpy::inf)};
  return cast(greatest ? numpy::max(x, options) : numpy::min(x, options), {x->dtype(), x->weak()});
}
Array of_numbers(const char* name, const Operand& x, const Sizes& axes, Combiner combiner) {
  Site site(x);
  if (is_bool(x->dtype())) fail(name, "numbers are needed, got {}", describe(x->type()));
  return reduced(name, x, axes, combiner);
}
Array of_bits(const char* name, const Operand& x, const Sizes& axes, Combiner combiner) {
  Site site(x);
  if (is_inexact(x->dtype()))
    fail(name, "integers or booleans are needed, got {}", describe(x->type()));
  return reduced(name, x, axes, combiner);
}

/// An axis counted from the first.
int forward_axis(const char* name, const Array& x, std::int64_t axis) {
  if (axis < 0 || axis >= x.ndim())
    fail(name, "axis {} is out of range for {}", axis, describe(x.type()));
  return static_cast<int>(axis);
}

Array position(const char* name, const Operand& x, std::int64_t axis, DType index_dtype,
               Array (*f)(const Operand&, const numpy::Position&)) {
  Site site(x);
  if (!is_integer(index_dtype) || is_bool(index_dtype))
    fail(name, "the dtype of indices is an integer one, got {}", strata::name(index_dtype));
  return cast(f(x, {.axis = forward_axis(name, x, axis)}),
              {canonical(index_dtype, x64_enabled()), false});
}

/// The function of two arrays that a combiner of complex numbers is.
Array (*of_two(Combiner combiner))(const Operand&, const Operand&) {
  switch (combiner) {
    case Combiner::mul: return lax::mul;
    case Combiner::max: return lax::max;
    case Combiner::min: return lax::min;
    default: return lax::add;
  }
}

Array running(const char* name, const Operand& x, std::int64_t axis, bool reverse,
              Combiner combiner) {
  Site site(x);
  const int dim = forward_axis(name, x, axis);
  if (is_bool(x->dtype())) fail(name, "numbers are needed, got {}", describe(x->type()));
  if (is_complex(x->dtype()))
    return associative_scan(of_two(combiner), x.array, {.reverse = reverse, .axis = dim});
  return emit_one({x}, x->weak(), [&](Builder& b, const Values& v) {
    return op::cumulative(b, v[0], op::constant(b, op::initial_value(combiner, x->dtype())),
                          {.dim = dim, .reverse = reverse, .combiner = combiner});
  });
}

/// A key as keys that are ordered numbers.
void add_keys(std::vector<Array>& keys, const Array& key) {
  if (is_complex(key.dtype())) {
    keys.push_back(numpy::real(key));
    keys.push_back(numpy::imag(key));
  } else {
    keys.push_back(key);
  }
}

/// The k first in the order of the keys, which are smaller or greater first.
std::pair<Array, Array> approximate(const char* name, const Operand& x, std::int64_t k,
                                    const ApproxTopK& options, bool greatest) {
  Site site(x);
  if (!is_float(x->dtype())) fail(name, "real floats are needed, got {}", describe(x->type()));
  const int dim = axis_of(name, options.reduction_dimension, x->ndim());
  if (k <= 0 || k > x->shape()[dim])
    fail(name, "k lies between 1 and the size of dimension {} of {}, got {}", dim,
         describe(x->type()), k);
  if (greatest) return top_k(x, k, dim);
  auto [values, places] = top_k(neg(x), k, dim);
  return {neg(values), places};
}

}  // namespace

Array reduce_sum(const Operand& x, const Sizes& axes) {
  return of_numbers("reduce_sum", x, axes, Combiner::add);
}
Array reduce_prod(const Operand& x, const Sizes& axes) {
  return of_numbers("reduce_prod", x, axes, Combiner::mul);
}
Array reduce_max(const Operand& x, const Sizes& axes) {
  return extreme("reduce_max", x, axes, true);
}
Array reduce_min(const Operand& x, const Sizes& axes) {
  return extreme("reduce_min", x, axes, false);
}
Array reduce_and(const Operand& x, const Sizes& axes) {
  return of_bits("reduce_and", x, axes, Combiner::and_);
}
Array reduce_or(const Operand& x, const Sizes& axes) {
  return of_bits("reduce_or", x, axes, Combiner::or_);
}
Array reduce_xor(const Operand& x, const Sizes& axes) {
  return of_bits("reduce_xor", x, axes, Combiner::xor_);
}

Array argmax(const Operand& x, std::int64_t axis, DType index_dtype) {
  return position("argmax", x, axis, index_dtype, numpy::argmax);
}
Array argmin(const Operand& x, std::int64_t axis, DType index_dtype) {
  return position("argmin", x, axis, index_dtype, numpy::argmin);
}

Array cumsum(const Operand& x, std::int64_t axis, bool reverse) {
  return running("cumsum", x, axis, reverse, Combiner::add);
}
Array cumprod(const Operand& x, std::int64_t axis, bool reverse) {
  return running("cumprod", x, axis, reverse, Combiner::mul);
}
Array cummax(const Operand& x, std::int64_t axis, bool reverse) {
  return running("cummax", x, axis, reverse, Combiner::max);
}
Array cummin(const Operand& x, std::int64_t axis, bool reverse) {
  return running("cummin", x, axis, reverse, Combiner::min);
}
Array cumlogsumexp(const Operand& x, std::int64_t axis, bool reverse) {
  Site site(x);
  const int dim = forward_axis("cumlogsumexp", x, axis);
  if (!is_float(x->dtype()))
    fail("cumlogsumexp", "real floats are needed, got {}", describe(x->type()));
  return associative_scan([](const Array& a, const Array& b) { return numpy::logaddexp(a, b); },
                          x.array, {.reverse = reverse, .axis = dim});
}

std::vector<Array> sort(const std::vector<Array>& operands, std::int64_t dimension, bool,
                        std::int64_t num_keys, Where where) {
  Site site(where);
  if (operands.empty()) fail("sort", "needs at least one array");
  if (num_keys < 1 || num_keys > static_cast<std::int64_t>(operands.size()))
    fail("sort", "num_keys lies between 1 and {}, got {}", operands.size(), num_keys);
  for (const Array& x : operands)
    if (x.shape() != operands[0].shape())
      fail("sort", "{} and {} have different shapes", describe(operands[0].type()),
           describe(x.type()));
  const int dim = axis_of("sort", dimension, operands[0].ndim());
  if (operands[0].size() == 0) return operands;
  if (operands.size() == 1 && !is_complex(operands[0].dtype()))
    return {numpy::sort(operands[0], {.axis = dim})};
  std::vector<Array> keys;
  for (std::int64_t i = 0; i < num_keys; ++i)
    add_keys(keys, stop_gradient(operands[static_cast<std::size_t>(i)]));
  std::reverse(keys.begin(), keys.end());  // the last one counts most
  const Array order = numpy::lexsort(keys, dim);
  std::vector<Array> out;
  for (const Array& x : operands)
    out.push_back(numpy::take_along_axis(x, order, dim, {.mode = "promise_in_bounds"}));
  return out;
}
Array sort(const Operand& x, std::int64_t dimension, bool is_stable) {
  return sort(std::vector<Array>{x.array}, dimension, is_stable, 1, x.where)[0];
}
std::pair<Array, Array> sort_key_val(const Operand& keys, const Operand& values,
                                     std::int64_t dimension, bool is_stable) {
  const std::vector<Array> sorted =
      sort(std::vector<Array>{keys.array, values.array}, dimension, is_stable, 1, keys.where);
  return {sorted[0], sorted[1]};
}

std::pair<Array, Array> top_k(const Operand& operand, std::int64_t k, std::int64_t axis) {
  Site site(operand);
  internal::require_real("top_k", operand);
  const int dim = axis_of("top_k", axis, operand->ndim());
  if (k < 0 || k > operand->shape()[dim])
    fail("top_k", "k lies between 0 and the size of axis {} of {}, got {}", dim,
         describe(operand->type()), k);
  const Array x = numpy::moveaxis(operand, dim, -1);
  const std::vector<Array> found =
      internal::emit(std::vector<Array>{x},
                     [&](Builder& b, const Values& v) {
                       return b.create("chlo.top_k", {v[0]}, {{"k", k}}).results();
                     },
                     {x.weak(), false});
  return {numpy::moveaxis(found[0], -1, dim), numpy::moveaxis(found[1], -1, dim)};
}
std::pair<Array, Array> approx_max_k(const Operand& x, std::int64_t k, const ApproxTopK& options) {
  return approximate("approx_max_k", x, k, options, true);
}
std::pair<Array, Array> approx_min_k(const Operand& x, std::int64_t k, const ApproxTopK& options) {
  return approximate("approx_min_k", x, k, options, false);
}

namespace detail {

std::vector<Type> fold_types(const std::vector<Array>& operands) {
  std::vector<Type> out;
  for (int side = 0; side < 2; ++side)
    for (const Array& x : operands) out.push_back(Type::scalar(x.dtype()));
  return out;
}

Folded checked(const char* name, std::vector<Array> operands, std::vector<Array> initial,
               const internal::Program& program) {
  const ir::Block& block = *program.block;
  if (initial.size() != operands.size())
    fail(name, "{} initial values are given for {} arrays", initial.size(), operands.size());
  if (!program.captured.empty())
    fail(name,
         "the function uses arrays from outside; it may only use its arguments and C++ numbers");
  if (block.results.size() != operands.size())
    fail(name, "the function returns {} arrays for {}", block.results.size(), operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Array& x = operands[i];
    if (x.shape() != operands[0].shape())
      fail(name, "{} and {} have different shapes", describe(operands[0].type()),
           describe(x.type()));
    if (initial[i].ndim() != 0)
      fail(name, "initial values are scalars, got {}", describe(initial[i].type()));
    if (initial[i].dtype() != x.dtype() && !initial[i].weak())
      fail(name, "{} has the initial value {} of another dtype", describe(x.type()),
           describe(initial[i].type()));
    initial[i] = cast(initial[i], {x.dtype(), false});
    if (block.results[i]->type() != Type::scalar(x.dtype()))
      fail(name, "the function returns {} for elements of {}", describe(block.results[i]->type()),
           describe(x.type()));
  }
  return {name, std::move(operands), std::move(initial), &program};
}

std::pair<std::string, std::vector<std::unique_ptr<ir::Block>>> combination(const Folded& what) {
  const ir::Block& block = *what.program->block;
  const std::string word = what.operands.size() == 1
                               ? ir::recognise_combiner(block, what.operands[0].dtype())
                               : "region";
  if (word != "region" && op::parse_combiner(word))
    return {word, std::vector<std::unique_ptr<ir::Block>>()};
  std::vector<std::unique_ptr<ir::Block>> regions;
  regions.push_back(ir::clone(block));
  return {"region", std::move(regions)};
}

std::vector<Array> reduce(const Folded& what, const Sizes& dimensions) {
  const Ints dims = ordered(what.name, what.operands[0], dimensions);
  return internal::emit(
      internal::joined(what.operands, what.initial), [&](Builder& b, const Values& v) {
        auto [combiner, regions] = combination(what);
        return b
            .create("stablehlo.reduce", v, {{"dimensions", dims}, {"combiner", combiner}},
                    std::move(regions))
            .results();
      });
}

}  // namespace detail

}  // namespace strata::lax
