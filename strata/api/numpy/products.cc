// Products of numpy.h: all are one dot_general and at most one transpose.
#include <algorithm>
#include <numeric>

#include "strata/api/compose.h"
#include "strata/api/index.h"
#include "strata/api/lax.h"

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
    fail(name, "dimension {} of {} has size {}, dimension {} of {} has size {}", i, describe(x.type()), x.shape()[i], j, describe(y.type()), y.shape()[j]);
}

}  // namespace

Array dot(const Operand& left, const Operand& right) {
  Site site(left);
  auto pair = promoted_pair("dot", left, right);
  const Array &x = pair[0], &y = pair[1];
  if (x.ndim() == 0 || y.ndim() == 0) return x * y;
  const int i = x.ndim() - 1, j = std::max(0, y.ndim() - 2);
  check_contraction("dot", x, i, y, j);
  return lax::dot_general(x, y, {{i}, {j}, {}, {}});
}

Array matmul(const Operand& left, const Operand& right) {
  Site site(left);
  auto pair = promoted_pair("matmul", left, right);
  Array x = pair[0], y = pair[1];
  if (x.ndim() == 0 || y.ndim() == 0) fail("matmul", "operands have at least one dimension, got {} and {}", describe(x.type()), describe(y.type()));
  if (y.ndim() <= 2 || x.ndim() == 1) {
    // No common batch: one product; the free axes are where they belong, except for a vector times a batch.
    const int i = x.ndim() - 1, j = std::max(0, y.ndim() - 2);
    check_contraction("matmul", x, i, y, j);
    return lax::dot_general(x, y, {{i}, {j}, {}, {}});
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
    if (a != b && a != 1 && b != 1) fail("matmul", "batch dimensions of {} and {} do not broadcast", describe(x.type()), describe(y.type()));
    a = b = std::max(a, b) * (a == 0 || b == 0 ? 0 : 1);
  }
  Ints dims(static_cast<std::size_t>(batch));
  std::iota(dims.begin(), dims.end(), 0);
  return lax::dot_general(broadcast_to(x, xs), broadcast_to(y, ys), {{batch + 1}, {batch}, dims, dims});
}

Array outer(const Operand& x, const Operand& y) { Site site(x); return expand_dims(ravel(x), 1) * expand_dims(ravel(y), 0); }
Array vdot(const Operand& x, const Operand& y) { Site site(x); return dot(conj(ravel(x)), ravel(y)); }

Array inner(const Operand& left, const Operand& right) {
  Site site(left);
  auto pair = promoted_pair("inner", left, right);
  const Array &x = pair[0], &y = pair[1];
  if (x.ndim() == 0 || y.ndim() == 0) return x * y;
  check_contraction("inner", x, x.ndim() - 1, y, y.ndim() - 1);
  return lax::dot_general(x, y, {{x.ndim() - 1}, {y.ndim() - 1}, {}, {}});
}
Array matvec(const Operand& x, const Operand& y) {
  Site site(x);
  if (x->ndim() < 2 || y->ndim() < 1) fail("matvec", "a matrix and a vector are needed, got {} and {}", describe(x->type()), describe(y->type()));
  return squeeze(matmul(x, expand_dims(y, -1)), -1);
}
Array vecmat(const Operand& x, const Operand& y) {
  Site site(x);
  if (x->ndim() < 1 || y->ndim() < 2) fail("vecmat", "a vector and a matrix are needed, got {} and {}", describe(x->type()), describe(y->type()));
  return squeeze(matmul(expand_dims(conj(x), -2), y), -2);
}
Array vecdot(const Operand& left, const Operand& right, std::int64_t axis) {
  Site site(left);
  if (left->ndim() < 1 || right->ndim() < 1) fail("vecdot", "vectors are needed, got {} and {}", describe(left->type()), describe(right->type()));
  const Array x = moveaxis(left, axis, -1), y = moveaxis(right, axis, -1);
  check_contraction("vecdot", x, x.ndim() - 1, y, y.ndim() - 1);
  return squeeze(matmul(expand_dims(conj(x), -2), expand_dims(y, -1)), {-2, -1});
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

Array tensordot(const Operand& left, const Operand& right, std::int64_t axes) {
  Site site(left);
  auto pair = promoted_pair("tensordot", left, right);
  const Array &x = pair[0], &y = pair[1];
  if (axes < 0 || axes > x.ndim() || axes > y.ndim()) fail("tensordot", "{} axes of {} and {}", axes, describe(x.type()), describe(y.type()));
  lax::DotDimensionNumbers dims;
  for (int k = 0; k < axes; ++k) {
    const int i = x.ndim() - static_cast<int>(axes) + k;
    check_contraction("tensordot", x, i, y, k);
    dims.lhs_contracting.push_back(i);
    dims.rhs_contracting.push_back(k);
  }
  return lax::dot_general(x, y, dims);
}

Array cross(const Operand& left, const Operand& right, const Cross& options) {
  Site site(left);
  const auto last = [](const Array& v, std::int64_t axis) { return moveaxis(v, internal::axis_of("cross", axis, v.ndim()), -1); };
  const Array x = last(left, options.axis.value_or(options.axisa)), y = last(right, options.axis.value_or(options.axisb));
  const std::int64_t n = x.shape(-1), m = y.shape(-1);
  if ((n != 2 && n != 3) || (m != 2 && m != 3)) fail("cross", "vectors have 2 or 3 elements, got {} and {}", describe(left->type()), describe(right->type()));
  const auto part = [](const Array& v, int i) { return i < v.shape(-1) ? v[{ellipsis, i}] : zeros_like(v[{ellipsis, 0}]); };
  const auto minor = [&](int i, int j) { return part(x, i) * part(y, j) - part(x, j) * part(y, i); };
  if (n == 2 && m == 2) return minor(0, 1);
  return moveaxis(stack({minor(1, 2), minor(2, 0), minor(0, 1)}), 0, options.axis.value_or(options.axisc));
}

}  // namespace strata::numpy
