#include "strata/op/linalg/matrix.h"

#include <numeric>

#include "strata/loop/kernel/linalg/factor.h"
#include "strata/op/rules.h"
#include "strata/op/sort/sort.h"

namespace strata::op {
namespace {

/// Compares the row with the column of each element.
Value* rows_and_columns(Builder& b, Value* x, const std::string& direction) {
  Type index(DType::i32, x->shape());
  return compare(b, iota(b, index, x->rank() - 2), iota(b, index, x->rank() - 1), direction);
}

}  // namespace

Value* conj(Builder& b, Value* x) {
  return is_complex(x->dtype()) ? complex(b, real(b, x), neg(b, imag(b, x))) : x;
}

Value* transposed(Builder& b, Value* x) {
  Ints order(static_cast<std::size_t>(x->rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transpose(b, x, order);
}

Value* adjoint(Builder& b, Value* x) { return conj(b, transposed(b, x)); }

Value* triangle(Builder& b, Value* x, bool lower, bool strict) {
  std::string direction = lower ? (strict ? "GT" : "GE") : (strict ? "LT" : "LE");
  return select(b, rows_and_columns(b, x, direction), x, zeros_like(b, x));
}

Value* with_diagonal_times(Builder& b, Value* x, double weight) {
  return select(b, rows_and_columns(b, x, "EQ"), mul(b, x, full_like(b, x, weight)), x);
}

Value* hermitian(Builder& b, Value* x) {
  Value* below = triangle(b, x, true, true);
  Value* diagonal = sub(b, triangle(b, x, true), below);
  if (is_complex(x->dtype())) {
    Value* re = real(b, diagonal);
    diagonal = complex(b, re, zeros_like(b, re));
  }
  return add(b, add(b, below, diagonal), adjoint(b, below));
}

Value* identity_like(Builder& b, Value* x) {
  return select(b, rows_and_columns(b, x, "EQ"), full_like(b, x, 1), zeros_like(b, x));
}

Value* diagonal_of(Builder& b, Value* x) {
  return reduce_sum(b, select(b, rows_and_columns(b, x, "EQ"), x, zeros_like(b, x)),
                    {x->rank() - 1});
}

namespace {
/// Each element of x along a new dimension of a matrix: the last, or the one before it.
Value* repeated(Builder& b, Value* x, Value* like, int skipped) {
  Ints dims;
  for (int d = 0; d < like->rank(); ++d)
    if (d != skipped) dims.push_back(d);
  return broadcast_in_dim(b, x, like->shape(), dims);
}
}  // namespace

Value* in_columns(Builder& b, Value* x, Value* like) {
  return repeated(b, x, like, like->rank() - 2);
}
Value* in_rows(Builder& b, Value* x, Value* like) { return repeated(b, x, like, like->rank() - 1); }

Value* inverse_differences(Builder& b, Value* w, Value* like) {
  Value* one = identity_like(b, like);
  Value* differences = sub(b, in_columns(b, w, like), in_rows(b, w, like));
  return sub(b, div(b, full_like(b, like, 1), add(b, differences, one)), one);
}

Value* rows_taken(Builder& b, Value* x, Value* rows) {
  return take_along(b, x, in_rows(b, rows, x), x->rank() - 2);
}

Value* matmul(Builder& b, Value* x, Value* y) {
  DotDims dims;
  int rank = x->rank();
  for (int d = 0; d < rank - 2; ++d) dims.lhs_batch.push_back(d), dims.rhs_batch.push_back(d);
  dims.lhs_contract = {rank - 1};
  dims.rhs_contract = {rank - 2};
  return dot_general(b, x, y, dims);
}

Value* triangular_solve(Builder& b, Value* a, Value* rhs, bool left, bool lower, bool unit,
                        const std::string& op) {
  Attrs attrs{{"left_side", left}, {"lower", lower}, {"unit_diagonal", unit}, {"transpose_a", op}};
  return b.create("stablehlo.triangular_solve", {a, rhs}, std::move(attrs)).result();
}

Value* solve(Builder& b, Value* a, Value* rhs, bool transposed) {
  return b.create("strata.solve", {a, rhs}, {{"transpose", transposed}}).result();
}

Value* sides_together(Builder& b, Value* rhs, bool columns) {
  const int rank = rhs->rank();
  Ints order;
  for (int d = 1; d < rank; ++d) order.push_back(d);
  order.insert(order.end() - (columns ? 1 : 2), 0);
  const Shape& s = rhs->type().shape();
  Ints sizes;
  for (int d = 1; d < rank; ++d) sizes.push_back(s[d]);
  sizes[sizes.size() - (columns ? 1 : 2)] *= s[0];
  return reshape(b, transpose(b, rhs, order), Shape::of(sizes));
}

Value* sides_apart(Builder& b, Value* x, std::int64_t size, bool columns) {
  const Shape& s = x->type().shape();
  Ints sizes, order;
  for (int d = 0; d < s.rank(); ++d) sizes.push_back(s[d]);
  const std::size_t side = sizes.size() - (columns ? 1 : 2);
  sizes[side] /= std::max<std::int64_t>(size, 1);
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(side), size);
  order.push_back(static_cast<std::int64_t>(side));
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if (d != side) order.push_back(static_cast<std::int64_t>(d));
  return transpose(b, reshape(b, x, Shape::of(sizes)), order);
}

std::int64_t factor_element(std::string_view op, DType dtype) {
  using namespace loop::factor;
  switch (dtype) {
    case DType::bf16: return kBf16;
    case DType::f16: return kF16;
    case DType::f32: return kF32;
    case DType::f64: return kF64;
    case DType::c64: return kC64;
    case DType::c128: return kC128;
    default: throw Error(std::string(op), "dtype {} is not supported", name(dtype)).unsupported();
  }
}

std::int64_t batch_count(const Shape& shape) {
  std::int64_t count = 1;
  for (int d = 0; d < shape.rank() - 2; ++d) count *= shape[d];
  return count;
}

}  // namespace strata::op
