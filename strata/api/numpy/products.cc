// Products of numpy.h: all are one dot_general and at most one transpose.
#include "strata/api/numpy/products.h"

#include <algorithm>
#include <numeric>

#include "strata/api/index.h"
#include "strata/api/lax/products.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/joining.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"

namespace strata::numpy {
namespace {

using internal::describe;
using internal::fail;
using internal::Ints;
using internal::Site;

std::vector<Array> promoted_pair(const char* name, const Array& x, const Array& y) {
  const Array both[] = {x, y};
  const WeakDType type = internal::promoted(name, both);
  return {internal::cast(x, type), internal::cast(y, type)};
}

void check_contraction(const char* name, const Array& x, int i, const Array& y, int j) {
  if (x.shape()[i] != y.shape()[j])
    fail(name, "dimension {} of {} has size {}, dimension {} of {} has size {}", i,
         describe(x.type()), x.shape()[i], j, describe(y.type()), y.shape()[j]);
}

/// x times y, one of which is a number.
Array multiple(const Array& x, const Array& y, const lax::DotGeneral& options) {
  return options.preferred_element_type ? lax::dot_general(x, y, {}, options) : x * y;
}

/// The axes of x and y that tensordot sums over.
lax::DotDimensionNumbers contracted(const TensordotAxes& axes, const Array& x, const Array& y) {
  lax::DotDimensionNumbers out;
  if (axes.pair()) {
    const auto& [xs, ys] = *axes.pair();
    if (xs.size() != ys.size())
      fail("tensordot", "{} axes of {} are summed over with {} of {}", xs.size(),
           describe(x.type()), ys.size(), describe(y.type()));
    for (std::int64_t d : xs)
      out.lhs_contracting.push_back(internal::axis_of("tensordot", d, x.ndim()));
    for (std::int64_t d : ys)
      out.rhs_contracting.push_back(internal::axis_of("tensordot", d, y.ndim()));
    return out;
  }
  const std::int64_t count = *axes.count();
  if (count < 0 || count > x.ndim() || count > y.ndim())
    fail("tensordot", "{} axes of {} and {}", count, describe(x.type()), describe(y.type()));
  for (std::int64_t k = 0; k < count; ++k) {
    out.lhs_contracting.push_back(x.ndim() - count + k);
    out.rhs_contracting.push_back(k);
  }
  return out;
}

}  // namespace

Array dot(const Operand& left, const Operand& right, const lax::DotGeneral& options) {
  Site site(left);
  auto pair = promoted_pair("dot", left, right);
  const Array &x = pair[0], &y = pair[1];
  if (x.ndim() == 0 || y.ndim() == 0) return multiple(x, y, options);
  const int i = x.ndim() - 1, j = std::max(0, y.ndim() - 2);
  check_contraction("dot", x, i, y, j);
  return lax::dot_general(x, y, {{i}, {j}, {}, {}}, options);
}

Array matmul(const Operand& left, const Operand& right, const lax::DotGeneral& options) {
  Site site(left);
  auto pair = promoted_pair("matmul", left, right);
  Array x = pair[0], y = pair[1];
  if (x.ndim() == 0 || y.ndim() == 0)
    fail("matmul", "operands have at least one dimension, got {} and {}", describe(x.type()),
         describe(y.type()));
  if (y.ndim() <= 2 || x.ndim() == 1) {
    // No common batch: one product; the free axes are where they belong, except for a vector times
    // a batch.
    const int i = x.ndim() - 1, j = std::max(0, y.ndim() - 2);
    check_contraction("matmul", x, i, y, j);
    return lax::dot_general(x, y, {{i}, {j}, {}, {}}, options);
  }
  check_contraction("matmul", x, x.ndim() - 1, y, y.ndim() - 2);
  const int batch = std::max(x.ndim(), y.ndim()) - 2;
  auto padded = [&](const Array& a) {
    Ints sizes = internal::sizes(a);
    sizes.insert(sizes.begin(), static_cast<std::size_t>(batch + 2 - a.ndim()), 1);
    return sizes;
  };
  Ints xs = padded(x), ys = padded(y);
  for (int d = 0; d < batch; ++d) {
    std::int64_t &a = xs[static_cast<std::size_t>(d)], &b = ys[static_cast<std::size_t>(d)];
    if (a != b && a != 1 && b != 1)
      fail("matmul", "batch dimensions of {} and {} do not broadcast", describe(x.type()),
           describe(y.type()));
    a = b = std::max(a, b) * (a == 0 || b == 0 ? 0 : 1);
  }
  Ints dims(static_cast<std::size_t>(batch));
  std::iota(dims.begin(), dims.end(), 0);
  return lax::dot_general(broadcast_to(x, xs), broadcast_to(y, ys),
                          {{batch + 1}, {batch}, dims, dims}, options);
}

Array outer(const Operand& x, const Operand& y) {
  Site site(x);
  return expand_dims(ravel(x), 1) * expand_dims(ravel(y), 0);
}
Array vdot(const Operand& x, const Operand& y, const lax::DotGeneral& options) {
  Site site(x);
  return dot(conj(ravel(x)), ravel(y), options);
}

Array inner(const Operand& left, const Operand& right, const lax::DotGeneral& options) {
  Site site(left);
  auto pair = promoted_pair("inner", left, right);
  const Array &x = pair[0], &y = pair[1];
  if (x.ndim() == 0 || y.ndim() == 0) return multiple(x, y, options);
  check_contraction("inner", x, x.ndim() - 1, y, y.ndim() - 1);
  return lax::dot_general(x, y, {{x.ndim() - 1}, {y.ndim() - 1}, {}, {}}, options);
}
Array matvec(const Operand& x, const Operand& y) {
  Site site(x);
  if (x->ndim() < 2 || y->ndim() < 1)
    fail("matvec", "a matrix and a vector are needed, got {} and {}", describe(x->type()),
         describe(y->type()));
  return squeeze(matmul(x, expand_dims(y, -1)), -1);
}
Array vecmat(const Operand& x, const Operand& y) {
  Site site(x);
  if (x->ndim() < 1 || y->ndim() < 2)
    fail("vecmat", "a vector and a matrix are needed, got {} and {}", describe(x->type()),
         describe(y->type()));
  return squeeze(matmul(expand_dims(conj(x), -2), y), -2);
}
Array vecdot(const Operand& left, const Operand& right, std::int64_t axis,
             const lax::DotGeneral& options) {
  Site site(left);
  if (left->ndim() < 1 || right->ndim() < 1)
    fail("vecdot", "vectors are needed, got {} and {}", describe(left->type()),
         describe(right->type()));
  const Array x = moveaxis(left, axis, -1), y = moveaxis(right, axis, -1);
  check_contraction("vecdot", x, x.ndim() - 1, y, y.ndim() - 1);
  return squeeze(matmul(expand_dims(conj(x), -2), expand_dims(y, -1), options), {-2, -1});
}
Array kron(const Operand& left, const Operand& right) {
  Site site(left);
  Array x = left, y = right;
  while (x.ndim() < y.ndim()) x = expand_dims(x, 0);
  while (y.ndim() < x.ndim()) y = expand_dims(y, 0);
  Ints xs, ys, result;
  for (int i = 0; i < x.ndim(); ++i) {
    xs.insert(xs.end(), {x.shape()[i], 1});
    ys.insert(ys.end(), {1, y.shape()[i]});
    result.push_back(x.shape()[i] * y.shape()[i]);
  }
  return (x.reshape(xs) * y.reshape(ys)).reshape(result);
}

Array tensordot(const Operand& left, const Operand& right, const TensordotAxes& axes,
                const lax::DotGeneral& options) {
  Site site(left);
  auto pair = promoted_pair("tensordot", left, right);
  const Array &x = pair[0], &y = pair[1];
  const lax::DotDimensionNumbers dims = contracted(axes, x, y);
  for (std::size_t k = 0; k < dims.lhs_contracting.size(); ++k)
    check_contraction("tensordot", x, static_cast<int>(dims.lhs_contracting[k]), y,
                      static_cast<int>(dims.rhs_contracting[k]));
  return lax::dot_general(x, y, dims, options);
}

Array cross(const Operand& left, const Operand& right, const Cross& options) {
  Site site(left);
  const auto last = [](const Array& v, std::int64_t axis) {
    return moveaxis(v, internal::axis_of("cross", axis, v.ndim()), -1);
  };
  const Array x = last(left, options.axis.value_or(options.axisa)),
              y = last(right, options.axis.value_or(options.axisb));
  const std::int64_t n = x.shape(-1), m = y.shape(-1);
  if ((n != 2 && n != 3) || (m != 2 && m != 3))
    fail("cross", "vectors have 2 or 3 elements, got {} and {}", describe(left->type()),
         describe(right->type()));
  const auto part = [](const Array& v, int i) {
    return i < v.shape(-1) ? v[{ellipsis, i}] : zeros_like(v[{ellipsis, 0}]);
  };
  const auto minor = [&](int i, int j) {
    return part(x, i) * part(y, j) - part(x, j) * part(y, i);
  };
  if (n == 2 && m == 2) return minor(0, 1);
  return moveaxis(stack({minor(1, 2), minor(2, 0), minor(0, 1)}), 0,
                  options.axis.value_or(options.axisc));
}

}  // namespace strata::numpy
