#include "strata/api/lax.h"

#include <cmath>

#include "strata/api/compose.h"
#include "strata/api/eager.h"
#include "strata/op/control.h"

namespace strata::lax {
namespace {

using internal::axis_of;
using internal::Builder;
using internal::cast;
using internal::describe;
using internal::EagerKey;
using internal::emit_known;
using internal::emit_one;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::sizes;
using internal::unary;
using internal::Value;
using internal::Values;

/// Start indices as scalars of one integer type; negative ones count from the end.
std::vector<Array> start_indices(const char* name, const Array& x,
                                 const std::vector<Array>& starts) {
  if (static_cast<int>(starts.size()) != x.ndim())
    fail(name, "{} start indices are given for {}", starts.size(), describe(x.type()));
  std::vector<Array> out;
  for (int i = 0; i < x.ndim(); ++i) {
    Array s = starts[static_cast<std::size_t>(i)];
    if (s.ndim() != 0 || !is_integer(s.dtype()))
      fail(name, "start index {} is an integer scalar, got {}", i, describe(s.type()));
    if (s.state()->scalar) {
      const std::int64_t value = s.item<std::int64_t>();
      out.push_back(Array::scalar(value < 0 ? value + x.shape()[i] : value, DType::i32, false));
      continue;
    }
    const bool may_be_negative = !is_unsigned(s.dtype());
    s = cast(s, {DType::i32, false});
    out.push_back(may_be_negative ? where(s < 0, s + x.shape()[i], s) : s);
  }
  return out;
}

/// A second operand: of the dtype of x, or a C++ number, which takes it on.
Array alike(const char* name, const Array& x, const Array& other) {
  if (other.dtype() != x.dtype() && !(other.weak() && other.ndim() == 0))
    fail(name, "operands have different dtypes: {} and {}", describe(x.type()),
         describe(other.type()));
  return cast(other, {x.dtype(), x.weak()});
}

/// A scalar, or an array of the shape of x.
void require_fits(const char* name, const char* what, const Array& x, const Array& other) {
  if (other.ndim() != 0 && other.shape() != x.shape())
    fail(name, "{} is a scalar or has the shape of {}, got {}", what, describe(x.type()),
         describe(other.type()));
}

}  // namespace

Array slice(const Operand& x, const Sizes& start, const Sizes& limit, const Sizes& strides) {
  Site site(x);
  if (static_cast<int>(start.size()) != x->ndim() || static_cast<int>(limit.size()) != x->ndim())
    fail("slice", "{} starts and {} limits are given for {}", start.size(), limit.size(),
         describe(x->type()));
  if (strides.size() != 0 && strides.size() != start.size())
    fail("slice", "{} strides are given for {}", strides.size(), describe(x->type()));
  for (std::int64_t s : strides)
    if (s < 1) fail("slice", "a stride is at least 1, got {}", s);
  bool whole = strides.size() == 0;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const std::int64_t size = x->shape()[static_cast<int>(i)];
    if (start[i] < 0 || limit[i] < start[i] || limit[i] > size)
      fail("slice", "range [{}, {}) of dimension {} does not lie in {}", start[i], limit[i], i,
           describe(x->type()));
    whole = whole && start[i] == 0 && limit[i] == size;
  }
  if (whole) return x;
  return emit_one({x}, x->weak(), [&](Builder& b, const Values& v) {
    return op::slice(b, v[0], start.get(), limit.get(), strides.get());
  });
}

Array slice_in_dim(const Operand& x, std::optional<std::int64_t> start,
                   std::optional<std::int64_t> limit, std::int64_t stride, std::int64_t axis) {
  Site site(x);
  const auto dim = static_cast<std::size_t>(axis_of("slice_in_dim", axis, x->ndim()));
  Ints from(static_cast<std::size_t>(x->ndim()), 0), to = sizes(x), strides(from.size(), 1);
  const std::int64_t size = to[dim];
  auto bound = [&](std::int64_t i) { return i < 0 ? i + size : i; };
  from[dim] = bound(start.value_or(0));
  to[dim] = limit ? bound(*limit) : size;
  strides[dim] = stride;
  return slice(x, from, to, stride == 1 ? Sizes{} : Sizes(strides));
}

Array dynamic_slice(const Operand& x, const std::vector<Array>& starts, const Sizes& slice_sizes) {
  Site site(x);
  if (static_cast<int>(slice_sizes.size()) != x->ndim())
    fail("dynamic_slice", "{} sizes are given for {}", slice_sizes.size(), describe(x->type()));
  std::vector<Array> operands = start_indices("dynamic_slice", x, starts);
  operands.insert(operands.begin(), x.array);
  return emit_one(operands, x->weak(), [&](Builder& b, const Values& v) {
    return op::dynamic_slice(b, v[0], Values(v.begin() + 1, v.end()), slice_sizes.get());
  });
}

Array dynamic_slice_in_dim(const Operand& x, const Operand& start, std::int64_t size,
                           std::int64_t axis) {
  Site site(x);
  const auto dim = static_cast<std::size_t>(axis_of("dynamic_slice_in_dim", axis, x->ndim()));
  std::vector<Array> starts(static_cast<std::size_t>(x->ndim()), Array(0));
  starts[dim] = start;
  Ints slice_sizes = sizes(x);
  slice_sizes[dim] = size;
  return dynamic_slice(x, starts, slice_sizes);
}

Array dynamic_index_in_dim(const Operand& x, const Operand& index, std::int64_t axis,
                           bool keepdims) {
  Site site(x);
  const Array one = dynamic_slice_in_dim(x, index, 1, axis);
  return keepdims ? one : lax::squeeze(one, {axis});
}

Array dynamic_update_slice(const Operand& x, const Operand& update,
                           const std::vector<Array>& starts) {
  Site site(x);
  std::vector<Array> operands = start_indices("dynamic_update_slice", x, starts);
  operands.insert(operands.begin(), {x.array, alike("dynamic_update_slice", x, update)});
  return emit_one(operands, x->weak(), [&](Builder& b, const Values& v) {
    return op::dynamic_update_slice(b, v[0], v[1], Values(v.begin() + 2, v.end()));
  });
}

Array dynamic_update_slice_in_dim(const Operand& x, const Operand& update, const Operand& start,
                                  std::int64_t axis) {
  Site site(x);
  std::vector<Array> starts(static_cast<std::size_t>(x->ndim()), Array(0));
  starts[static_cast<std::size_t>(axis_of("dynamic_update_slice_in_dim", axis, x->ndim()))] = start;
  return dynamic_update_slice(x, update, starts);
}

Array dynamic_update_index_in_dim(const Operand& x, const Operand& update, const Operand& index,
                                  std::int64_t axis) {
  Site site(x);
  const int dim = axis_of("dynamic_update_index_in_dim", axis, x->ndim());
  const Array one = update->ndim() == x->ndim() ? update.array : lax::expand_dims(update, {dim});
  if (one.ndim() != x->ndim() || one.shape()[dim] != 1)
    fail("dynamic_update_index_in_dim",
         "an update of {} along dimension {} has one element there, got {}", describe(x->type()),
         dim, describe(update->type()));
  return dynamic_update_slice_in_dim(x, one, index, dim);
}

Array pad(const Operand& x, const Operand& value, const std::vector<Padding>& config) {
  Site site(x);
  if (static_cast<int>(config.size()) != x->ndim())
    fail("pad", "{} paddings are given for {}", config.size(), describe(x->type()));
  if (value->ndim() != 0)
    fail("pad", "the padding value is a scalar, got {}", describe(value->type()));
  Ints low, high, interior;
  for (const Padding& p : config) {
    if (p.interior < 0) fail("pad", "interior padding is at least 0, got {}", p.interior);
    low.push_back(p.low);
    high.push_back(p.high);
    interior.push_back(p.interior);
  }
  const Array v = alike("pad", x, value);
  return emit_one({x.array, v}, x->weak(), [&](Builder& b, const Values& values) {
    return op::pad(b, values[0], values[1], low, high, interior);
  });
}

Array broadcast_in_dim(const Operand& x, const Sizes& shape, const Sizes& dimensions) {
  Site site(x);
  return emit_one({x}, x->weak(), [&](Builder& b, const Values& v) {
    return op::broadcast_in_dim(b, v[0], Shape::of(shape), dimensions.get());
  });
}

Array rev(const Operand& x, const Axes& dimensions) {
  Site site(x);
  const Ints dims = internal::axes_of("rev", dimensions, x->ndim());
  if (dims.empty()) return x;
  return emit_one({x}, x->weak(),
                  [&](Builder& b, const Values& v) { return op::reverse(b, v[0], dims); });
}

Array select(const Operand& predicate, const Operand& on_true, const Operand& on_false) {
  Site site(predicate);
  if (predicate->dtype() == DType::i32) return select(predicate.array > 0, on_true, on_false);
  if (!is_bool(predicate->dtype()))
    fail("select", "the predicate is boolean or i32, got {}", describe(predicate->type()));
  require_fits("select", "the predicate", on_true, predicate);
  if (on_true->type() != on_false->type())
    fail("select", "branches have different types: {} and {}", describe(on_true->type()),
         describe(on_false->type()));
  return emit_one({predicate.array, on_true.array, on_false.array},
                  on_true->weak() && on_false->weak(),
                  [](Builder& b, const Values& v) { return op::select(b, v[0], v[1], v[2]); });
}

Array clamp(const Operand& low, const Operand& x, const Operand& high) {
  Site site(x);
  require_fits("clamp", "the lower bound", x, low);
  require_fits("clamp", "the upper bound", x, high);
  return emit_one({alike("clamp", x, low), x.array, alike("clamp", x, high)}, x->weak(),
                  [](Builder& b, const Values& v) { return op::clamp(b, v[0], v[1], v[2]); });
}

Array convert_element_type(const Operand& x, DType dtype) { return astype(x, dtype); }
Array bitcast_convert_type(const Operand& x, DType dtype) {
  Site site(x);
  return emit_one({x}, false,
                  [&](Builder& b, const Values& v) { return op::bitcast_convert(b, v[0], dtype); });
}
namespace {

/// Giles' polynomials in w = -log1p(-x^2), f32 coefficients, as the CHLO decomposition has them.
Array erf_inv_f32(const Array& x) {
  static constexpr float small[] = {2.81022636e-08f,  3.43273939e-07f, -3.5233877e-06f,
                                    -4.39150654e-06f, 0.00021858087f,  -0.00125372503f,
                                    -0.00417768164f,  0.246640727f,    1.50140941f};
  static constexpr float large[] = {-0.000200214257f, 0.000100950558f, 0.00134934322f,
                                    -0.00367342844f,  0.00573950773f,  -0.0076224613f,
                                    0.00943887047f,   1.00167406f,     2.83297682f};
  const Array w = -numpy::log1p(-x * x);
  const Array is_small = w < 5;
  const Array t = where(is_small, w - 2.5,
                        numpy::sqrt(where(is_small, 5, w)) - 3);  // no derivative of sqrt at 0
  Array p = where(is_small, small[0], large[0]);
  for (std::size_t i = 1; i < std::size(small); ++i)
    p = where(is_small, small[i], large[i]) + p * t;
  return where(numpy::abs(x) == 1, numpy::sign(x) * inf, p * x);
}

Array erf_inv_f64(const Array& x) {
  static constexpr double small[] = {
      -3.6444120640178196996e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,
      1.115787767802518096e-17,   -1.333171662854620906e-16,  2.0972767875968561637e-17,
      6.6376381343583238325e-15,  -4.0545662729752068639e-14, -8.1519341976054721522e-14,
      2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
      1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08,
      4.2347877827932403518e-07,  -1.3654692000834678645e-06, -1.3882523362786468719e-05,
      0.0001867342080340571352,   -0.00074070253416626697512, -0.0060336708714301490533,
      0.24015818242558961693,     1.6536545626831027356};
  static constexpr double middle[] = {
      2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07,
      1.8239629214389227755e-08, 1.5027403968909827627e-06, -4.013867526981545969e-06,
      2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05,
      6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
      0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066,
      -0.0037512085075692412107, 0.005370914553590063617,   1.0052589676941592334,
      3.0838856104922207635};
  static constexpr double large[] = {
      -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
      -3.7894654401267369937e-09, 7.6157012080783393804e-09,  -1.4960026627149240478e-08,
      2.9147953450901080826e-08,  -6.7711997758452339498e-08, 2.2900482228026654717e-07,
      -9.9298272942317002539e-07, 4.5260625972231537039e-06,  -1.9681778105531670567e-05,
      7.5995277030017761139e-05,  -0.00021503011930044477347, -0.00013871931833623122026,
      1.0103004648645343977,      4.8499064014085844221};
  const Array w = -numpy::log1p(-x * x);
  auto polynomial = [](const Array& t, std::span<const double> c) {
    Array p = numpy::full_like(t, c[0]);
    for (std::size_t i = 1; i < c.size(); ++i) p = c[i] + p * t;
    return p;
  };
  const Array is_small = w < 6.25;
  const Array root = numpy::sqrt(where(is_small, 6.25, w));  // no derivative of sqrt at 0
  const Array p =
      where(is_small, polynomial(w - 3.125, small),
            where(w < 16, polynomial(root - 3.25, middle), polynomial(root - 5, large)));
  return where(numpy::abs(x) == 1, numpy::sign(x) * inf, p * x);
}

}  // namespace

Array erf_inv(const Operand& x) {
  Site site(x);
  const WeakDType type{x->dtype(), x->weak()};
  if (!is_inexact(type.dtype) || is_complex(type.dtype))
    fail("erf_inv", "real numbers are needed, got {}", describe(x->type()));
  if (type.dtype == DType::f64) return erf_inv_f64(cast(x, type));
  return cast(erf_inv_f32(cast(x, {DType::f32, type.weak})), type);
}

Array broadcasted_iota(DType dtype, const Sizes& shape, std::int64_t dimension, Where where) {
  Site site(where);
  for (std::int64_t s : shape)
    if (s < 0) fail("iota", "a size is at least 0, got {}", s);
  const int dim = axis_of("iota", dimension, static_cast<int>(shape.size()));
  if (is_bool(dtype)) fail("iota", "booleans do not count");
  const Type type(canonical(dtype, x64_enabled()), Shape::of(shape));
  return emit_one({}, false, [&](Builder& b, const Values&) { return op::iota(b, type, dim); });
}
Array iota(DType dtype, std::int64_t size, Where where) {
  return broadcasted_iota(dtype, {size}, 0, where);
}

Array stop_gradient(const Operand& x) {
  Site site(x);
  if (!is_inexact(x->dtype())) return x;
  return emit_one({x}, x->weak(), [](Builder& b, const Values& v) {
    return b.create("strata.stop_gradient", {v[0]}).result();
  });
}

std::vector<Array> optimization_barrier(const std::vector<Array>& arrays, Where where) {
  Site site(where);
  std::vector<bool> weak;
  for (const Array& a : arrays) weak.push_back(a.weak());
  return internal::emit(
      arrays, [](Builder& b, const Values& v) { return op::optimization_barrier(b, v); }, weak);
}

}  // namespace strata::lax
