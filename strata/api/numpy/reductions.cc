// Reductions of numpy.h.
#include "strata/api/numpy/reductions.h"

#include <cmath>

#include "strata/api/lax/operations.h"
#include "strata/api/lax_elementwise.h"
#include "strata/api/numpy/constants.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/floating.h"
#include "strata/api/numpy/index/sized.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/joining.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"
#include "strata/api/trace/eager.h"
#include "strata/op/control.h"
#include "strata/op/reduce/combiner.h"

namespace strata::numpy {
namespace {

using internal::axes_of;
using internal::Builder;
using internal::cast;
using internal::EagerKey;
using internal::emit_known;
using internal::emit_one;
using internal::fail;
using internal::inexact;
using internal::Ints;
using internal::Site;
using internal::Value;
using internal::Values;
using op::Combiner;

Shape keep_dims(const Shape& shape, const Ints& axes) {
  std::vector<std::int64_t> out = shape.sizes();
  for (std::int64_t a : axes) out[static_cast<std::size_t>(a)] = 1;
  return Shape::of(out);
}

/// x reduced in its own dtype; `keepdims` leaves axes of size 1.
Array reduce(const char* name, const Array& x, const Axes& axis, bool keepdims, Combiner combiner) {
  const Ints axes = axes_of(name, axis, x.ndim());
  return emit_known(
      EagerKey().add("reduce").add(combiner).add(keepdims).add(axes).add(x), {&x}, [&] {
        return internal::Emitted{
            {x}, x.weak(), [axes, keepdims, combiner](Builder& b, const Values& v) {
              Value* result = op::reduce(b, v[0], axes, combiner);
              return keepdims ? op::reshape(b, result, keep_dims(v[0]->shape(), axes)) : result;
            }};
      });
}

/// The dtype in which integers are summed: at least 32 bits.
DType sum_dtype(DType d) {
  if (is_bool(d)) return canonical(DType::i64, x64_enabled());
  if (is_integer(d) && bit_width(d) < 64)
    return canonical(is_unsigned(d) ? DType::ui64 : DType::i64, x64_enabled());
  return d;
}

/// Elements that take no part are replaced by what changes nothing.
Array masked(const char* name, const Array& x, const std::optional<Array>& mask,
             const Array& neutral) {
  if (!mask) return x;
  if (!is_bool(mask->dtype()))
    fail(name, "`where` is boolean, got {}", internal::describe(mask->type()));
  return where(*mask, x, neutral);
}

Array total(const char* name, const Operand& x, const Reduce& options, Combiner combiner) {
  Site site(x);
  const DType dtype =
      options.dtype ? canonical(*options.dtype, x64_enabled()) : sum_dtype(x->dtype());
  const Array in = dtype == x->dtype() ? x.array : cast(x, {dtype, x->weak() && !options.dtype});
  const Array taken =
      masked(name, in, options.where, internal::number_like(in, combiner == Combiner::add ? 0 : 1));
  const Array result =
      cast(reduce(name, taken, options.axis, options.keepdims, combiner), {dtype, false});
  if (!options.initial) return result;
  const Array initial = cast(*options.initial, {result.dtype(), result.weak()});
  return combiner == Combiner::add ? initial + result : initial * result;
}

std::int64_t count_of(const char* name, const Array& x, const Axes& axis) {
  std::int64_t n = 1;
  for (std::int64_t a : axes_of(name, axis, x.ndim())) n *= x.shape()[static_cast<int>(a)];
  return n;
}

/// Complex numbers are ordered by their real parts, equal ones by their imaginary parts.
Array complex_extreme(const char* name, const Array& x, const Axes& axis, bool keepdims,
                      Combiner combiner) {
  const Array re = real(x), im = imag(x), best = reduce(name, re, axis, true, combiner);
  const Array tied = where((re == best) | isnan(best), im,
                           internal::number_like(im, combiner == Combiner::max ? -inf : inf));
  const Array found = lax::complex(best, reduce(name, tied, axis, true, combiner));
  return keepdims ? found : squeeze(found, axes_of(name, axis, x.ndim()));
}
Array extreme(const char* name, const Array& x, const Axes& axis, bool keepdims,
              Combiner combiner) {
  return is_complex(x.dtype()) ? complex_extreme(name, x, axis, keepdims, combiner)
                               : reduce(name, x, axis, keepdims, combiner);
}

Array extremum(const char* name, const Operand& x, const Reduce& options, Combiner combiner) {
  Site site(x);
  const Shape whole =
      options.where ? internal::broadcast_shapes(name, std::vector<Array>{x.array, *options.where})
                    : x->shape();
  if (!options.initial && options.where)
    fail(name, "`where` may leave no element, and needs `initial`");
  std::int64_t along = 1;
  for (std::int64_t a : axes_of(name, options.axis, whole.rank()))
    along *= whole[static_cast<int>(a)];
  if (!options.initial && along == 0)
    fail(name, "an empty axis of {} has no extreme element", internal::describe(x->type()));
  if (!options.initial)
    return cast(extreme(name, x, options.axis, options.keepdims, combiner), {x->dtype(), false});
  const WeakDType type{x->dtype(), x->weak()};
  const Array initial = cast(*options.initial, type), in = masked(name, x, options.where, initial);
  const Array result = extreme(name, in, options.axis, options.keepdims, combiner);
  return cast(combiner == Combiner::max ? maximum(initial, result) : minimum(initial, result),
              {x->dtype(), false});
}

Array truth(const char* name, const Operand& x, const Reduce& options, Combiner combiner) {
  Site site(x);
  const Array in =
      masked(name, x->astype(bool_), options.where, Array::scalar(combiner == Combiner::and_));
  return reduce(name, in, options.axis, options.keepdims, combiner);
}

/// f32 for bf16 and f16, whose means are formed wider.
DType mean_dtype(DType d) { return compute_type(d); }

using op::BlockPtr;

/// The region of an argument maximum, as op/reduce/reduce.h recognises it: (v, i, w, j) -> the
/// greater value, or the smaller index of equal ones; NaN is the greatest.
BlockPtr argument_region(DType dtype, const char* direction) {
  auto region = std::make_unique<ir::Block>();
  Value* v = region->add_argument(Type::scalar(dtype));
  Value* i = region->add_argument(Type::scalar(DType::i32));
  Value* w = region->add_argument(Type::scalar(dtype));
  Value* j = region->add_argument(Type::scalar(DType::i32));
  Builder b(*region);
  Value* first = op::or_(b, op::compare(b, v, w, direction), op::compare(b, v, v, "NE"));
  Value* tie = op::and_(b, op::compare(b, v, w, "EQ"), op::compare(b, i, j, "LT"));
  region->results = {op::select(b, first, v, w), op::select(b, op::or_(b, first, tie), i, j)};
  return region;
}

Array argument(const char* name, const Operand& operand, const Position& options,
               const char* direction, Combiner worst) {
  Site site(operand);
  internal::require_real(name, operand);
  const std::optional<std::int64_t> axis = options.axis;
  Array x = lax::stop_gradient(axis ? operand.array : ravel(operand));
  if (is_bool(x.dtype())) x = x.astype(int32);
  const int dim = internal::axis_of(name, axis.value_or(0), x.ndim());
  if (x.shape()[dim] == 0)
    fail(name, "an empty axis of {} has no extreme element", internal::describe(x.type()));
  const Array found = emit_one({x}, false, [&](Builder& b, const Values& v) {
    Value* index = op::iota(b, x.type().with(DType::i32), dim);
    Value* start = op::constant(b, op::initial_value(worst, x.dtype()));
    std::vector<BlockPtr> regions;
    regions.push_back(argument_region(x.dtype(), direction));
    return b
        .create("stablehlo.reduce", {v[0], index, start, op::scalar(b, DType::i32, 0)},
                {{"dimensions", Ints{dim}}, {"combiner", std::string("region")}},
                std::move(regions))
        .result(1);
  });
  if (!options.keepdims) return found;
  if (axis) return expand_dims(found, dim);
  return found.reshape(std::vector<std::int64_t>(static_cast<std::size_t>(operand->ndim()), 1));
}

/// Sums of prefixes in log2(n) shifted additions.
Array prefixes(const char* name, const Operand& operand, const Cumulative& options,
               op::Combiner combiner) {
  Site site(operand);
  const std::optional<std::int64_t> axis = options.axis;
  Array x = axis ? operand.array : ravel(operand);
  const DType dtype = options.dtype        ? canonical(*options.dtype, x64_enabled())
                      : is_bool(x.dtype()) ? sum_dtype(x.dtype())
                                           : x.dtype();
  x = cast(x, {dtype, false});
  const int dim = internal::axis_of(name, axis.value_or(0), x.ndim());
  const std::int64_t n = x.shape()[dim];
  return emit_one({x}, x.weak(), [&](Builder& b, const Values& v) {
    Value* sum = v[0];
    Value* neutral = op::scalar(b, dtype, combiner == Combiner::add ? 0 : 1);
    for (std::int64_t shift = 1; shift < n; shift *= 2) {
      Ints low(static_cast<std::size_t>(x.ndim()), 0), high = low;
      low[static_cast<std::size_t>(dim)] = shift;
      high[static_cast<std::size_t>(dim)] = -shift;
      Value* shifted = op::pad(b, sum, neutral, low, high);
      sum = combiner == Combiner::add ? op::add(b, sum, shifted) : op::mul(b, sum, shifted);
    }
    return sum;
  });
}

}  // namespace

Array sum(const Operand& x, const Reduce& options) {
  return total("sum", x, options, Combiner::add);
}
Array prod(const Operand& x, const Reduce& options) {
  return total("prod", x, options, Combiner::mul);
}
Array max(const Operand& x, const Reduce& options) {
  return extremum("max", x, options, Combiner::max);
}
Array min(const Operand& x, const Reduce& options) {
  return extremum("min", x, options, Combiner::min);
}
Array any(const Operand& x, const Reduce& options) {
  return truth("any", x, options, Combiner::or_);
}
Array all(const Operand& x, const Reduce& options) {
  return truth("all", x, options, Combiner::and_);
}

/// How many elements each result is made of, as a number of this type.
Array counted(const char* name, const Array& x, const Axes& axis, const std::optional<Array>& mask,
              DType dtype) {
  if (!mask) return Array::scalar(static_cast<double>(count_of(name, x, axis)), dtype, true);
  const Array taking_part =
      broadcast_to(*mask, internal::broadcast_shapes(name, std::vector<Array>{x, *mask}));
  return sum(taking_part.astype(dtype), {.axis = axis, .keepdims = true});
}

Array mean(const Operand& x, const Reduce& options) {
  Site site(x);
  const WeakDType type = options.dtype ? WeakDType{canonical(*options.dtype, x64_enabled())}
                                       : inexact({x->dtype(), x->weak()});
  const Array wide = cast(x, {mean_dtype(type.dtype), type.weak});
  const Array in = masked("mean", wide, options.where, internal::number_like(wide, 0));
  const Array result = reduce("mean", in, options.axis, true, Combiner::add) /
                       counted("mean", wide, options.axis, options.where, wide.dtype());
  const Array kept = cast(result, {type.dtype, false});
  return options.keepdims ? kept : squeeze(kept, axes_of("mean", options.axis, in.ndim()));
}

Array var(const Operand& x, const Variance& options) {
  Site site(x);
  const WeakDType type = inexact({x->dtype(), x->weak()});
  const Array wide = cast(x, {mean_dtype(type.dtype), type.weak});
  const Array centred =
      wide - mean(wide, {.axis = options.axis, .keepdims = true, .where = options.where});
  const Array squares =
      is_complex(type.dtype) ? square(real(centred)) + square(imag(centred)) : square(centred);
  const Array in = masked("var", squares, options.where, internal::number_like(squares, 0));
  const Array divisor =
      counted("var", wide, options.axis, options.where, squares.dtype()) - options.ddof;
  const Array total = reduce("var", in, options.axis, true, Combiner::add);
  // With no more elements than ddof there is no variance.
  const Array result = where(divisor > 0, total / where(divisor > 0, divisor, 1), nan);
  const Array kept = cast(result, {is_complex(type.dtype) ? squares.dtype() : type.dtype, false});
  return options.keepdims ? kept : squeeze(kept, axes_of("var", options.axis, in.ndim()));
}
Array std_(const Operand& x, const Variance& options) {
  Site site(x);
  return sqrt(var(x, options));
}

Array ptp(const Operand& x, const Reduce& options) {
  Site site(x);
  return max(x, options) - min(x, options);
}
Array count_nonzero(const Operand& x, const Reduce& options) {
  Site site(x);
  return sum(
      x.array != 0,
      {.axis = options.axis, .keepdims = options.keepdims, .dtype = internal::index_dtype()});
}

Array logsumexp(const Operand& operand, const Reduce& options) {
  Site site(operand);
  const Array x = cast(operand, inexact({operand->dtype(), operand->weak()}));
  Array top = max(lax::stop_gradient(x), {.axis = options.axis, .keepdims = true});
  top = where(isfinite(top), top, zeros_like(top));
  const Array result = log(sum(exp(x - top), {.axis = options.axis, .keepdims = true})) + top;
  return options.keepdims ? result : squeeze(result, axes_of("logsumexp", options.axis, x.ndim()));
}

Array argmax(const Operand& x, const Position& options) {
  return internal::cast(argument("argmax", x, options, "GT", Combiner::max),
                        {internal::index_dtype(), false});
}
Array argmin(const Operand& x, const Position& options) {
  return internal::cast(argument("argmin", x, options, "LT", Combiner::min),
                        {internal::index_dtype(), false});
}
Array cumsum(const Operand& x, const Cumulative& options) {
  return prefixes("cumsum", x, options, Combiner::add);
}
Array cumprod(const Operand& x, const Cumulative& options) {
  return prefixes("cumprod", x, options, Combiner::mul);
}

namespace {
Array cumulative(const char* name, const Operand& operand, const CumulativeArray& options,
                 Combiner combiner) {
  Site site(operand);
  const Array& x = operand;
  if (x.ndim() == 0) fail(name, "a scalar has no axis");
  if (x.ndim() > 1 && !options.axis)
    fail(name, "{} has several axes, of which one is to be given", internal::describe(x.type()));
  const int dim = internal::axis_of(name, options.axis.value_or(0), x.ndim());
  const DType dtype = options.dtype.value_or(
      combiner == Combiner::add || is_bool(x.dtype()) ? sum_dtype(x.dtype()) : x.dtype());
  const Array out = prefixes(name, x, {.axis = dim, .dtype = dtype}, combiner);
  if (!options.include_initial) return out;
  std::vector<std::int64_t> first = x.shape().sizes();
  first[static_cast<std::size_t>(dim)] = 1;
  return concatenate({full(first, combiner == Combiner::add ? 0 : 1, out.dtype()), out}, dim);
}
}  // namespace

Array cumulative_sum(const Operand& x, const CumulativeArray& options) {
  return cumulative("cumulative_sum", x, options, Combiner::add);
}
Array cumulative_prod(const Operand& x, const CumulativeArray& options) {
  return cumulative("cumulative_prod", x, options, Combiner::mul);
}

}  // namespace strata::numpy
