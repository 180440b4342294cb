// Reductions of numpy.h.
#include <cmath>

#include "strata/api/compose.h"
#include "strata/api/lax.h"
#include "strata/op/combiner.h"
#include "strata/op/control.h"

namespace strata {
namespace {

using internal::emit_one;
using internal::axes_of;
using internal::Builder;
using internal::cast;
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
  return emit_one({x}, x.weak(), [&](Builder& b, const Values& v) {
    Value* result = op::reduce(b, v[0], axes, combiner);
    return keepdims ? op::reshape(b, result, keep_dims(x.shape(), axes)) : result;
  });
}

/// The dtype in which integers are summed: at least 32 bits.
DType sum_dtype(DType d) {
  if (is_bool(d)) return canonical(DType::i64, x64_enabled());
  if (is_integer(d) && bit_width(d) < 64) return canonical(is_unsigned(d) ? DType::ui64 : DType::i64, x64_enabled());
  return d;
}

Array total(const char* name, const Operand& x, const Reduce& options, Combiner combiner) {
  Site site(x);
  const DType dtype = options.dtype ? canonical(*options.dtype, x64_enabled()) : sum_dtype(x->dtype());
  const Array in = dtype == x->dtype() ? x.array : cast(x, {dtype, x->weak() && !options.dtype});
  return reduce(name, in, options.axis, options.keepdims, combiner);
}

std::int64_t count_of(const char* name, const Array& x, const Axes& axis) {
  std::int64_t n = 1;
  for (std::int64_t a : axes_of(name, axis, x.ndim())) n *= x.shape()[static_cast<int>(a)];
  return n;
}

Array extremum(const char* name, const Operand& x, const Reduce& options, Combiner combiner) {
  Site site(x);
  if (x->size() == 0 && count_of(name, x, options.axis) == 0) fail(name, "an empty axis of {} has no extreme element", internal::describe(x->type()));
  return reduce(name, x, options.axis, options.keepdims, combiner);
}

Array truth(const char* name, const Operand& x, const Reduce& options, Combiner combiner) {
  Site site(x);
  return reduce(name, x->astype(bool_), options.axis, options.keepdims, combiner);
}

/// f32 for bf16 and f16, whose means are formed wider.
DType mean_dtype(DType d) { return compute_type(d); }

using op::BlockPtr;

/// The region of an argument maximum, as op/reduce.h recognises it: (v, i, w, j) -> the greater value, or the smaller
/// index of equal ones; NaN is the greatest.
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

Array argument(const char* name, const Operand& operand, std::optional<std::int64_t> axis, const char* direction, Combiner worst) {
  Site site(operand);
  Array x = lax::stop_gradient(axis ? operand.array : ravel(operand));
  if (is_bool(x.dtype())) x = x.astype(int32);
  if (x.ndim() == 0) x = x.reshape({1});
  const int dim = internal::axis_of(name, axis.value_or(0), x.ndim());
  if (x.shape()[dim] == 0) fail(name, "an empty axis of {} has no extreme element", internal::describe(x.type()));
  return emit_one({x}, false, [&](Builder& b, const Values& v) {
    Value* index = op::iota(b, x.type().with(DType::i32), dim);
    Value* start = op::constant(b, op::initial_value(worst, x.dtype()));
    std::vector<BlockPtr> regions;
    regions.push_back(argument_region(x.dtype(), direction));
    return b
        .create("stablehlo.reduce", {v[0], index, start, op::scalar(b, DType::i32, 0)},
                {{"dimensions", Ints{dim}}, {"combiner", std::string("region")}}, std::move(regions))
        .result(1);
  });
}

/// Sums of prefixes in log2(n) shifted additions.
Array prefixes(const char* name, const Operand& operand, std::optional<std::int64_t> axis, op::Combiner combiner) {
  Site site(operand);
  Array x = axis ? operand.array : ravel(operand);
  const DType dtype = sum_dtype(x.dtype());
  x = cast(x, {dtype, x.weak()});
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

Array sum(const Operand& x, const Reduce& options) { return total("sum", x, options, Combiner::add); }
Array prod(const Operand& x, const Reduce& options) { return total("prod", x, options, Combiner::mul); }
Array max(const Operand& x, const Reduce& options) { return extremum("max", x, options, Combiner::max); }
Array min(const Operand& x, const Reduce& options) { return extremum("min", x, options, Combiner::min); }
Array any(const Operand& x, const Reduce& options) { return truth("any", x, options, Combiner::or_); }
Array all(const Operand& x, const Reduce& options) { return truth("all", x, options, Combiner::and_); }

Array mean(const Operand& x, const Reduce& options) {
  Site site(x);
  const WeakDType type = options.dtype ? WeakDType{canonical(*options.dtype, x64_enabled())} : inexact({x->dtype(), x->weak()});
  const Array wide = cast(x, {mean_dtype(type.dtype), type.weak});
  const Array result = reduce("mean", wide, options.axis, options.keepdims, Combiner::add) / count_of("mean", x, options.axis);
  return cast(result, type);
}

Array var(const Operand& x, const Variance& options) {
  Site site(x);
  const WeakDType type = inexact({x->dtype(), x->weak()});
  const Array wide = cast(x, {mean_dtype(type.dtype), type.weak});
  const Array centred = wide - mean(wide, {.axis = options.axis, .keepdims = true});
  const double divisor = static_cast<double>(count_of("var", x, options.axis) - options.ddof);
  return cast(reduce("var", square(centred), options.axis, options.keepdims, Combiner::add) / divisor, type);
}
Array std_(const Operand& x, const Variance& options) { Site site(x); return sqrt(var(x, options)); }

Array logsumexp(const Operand& operand, const Reduce& options) {
  Site site(operand);
  const Array x = cast(operand, inexact({operand->dtype(), operand->weak()}));
  Array top = max(lax::stop_gradient(x), {.axis = options.axis, .keepdims = true});
  top = where(isfinite(top), top, zeros_like(top));
  const Array result = log(sum(exp(x - top), {.axis = options.axis, .keepdims = true})) + top;
  return options.keepdims ? result : squeeze(result, axes_of("logsumexp", options.axis, x.ndim()));
}


Array argmax(const Operand& x, std::optional<std::int64_t> axis) { return argument("argmax", x, axis, "GT", Combiner::max); }
Array argmin(const Operand& x, std::optional<std::int64_t> axis) { return argument("argmin", x, axis, "LT", Combiner::min); }
Array cumsum(const Operand& x, std::optional<std::int64_t> axis) { return prefixes("cumsum", x, axis, Combiner::add); }
Array cumprod(const Operand& x, std::optional<std::int64_t> axis) { return prefixes("cumprod", x, axis, Combiner::mul); }

}  // namespace strata
