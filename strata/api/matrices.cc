#include "strata/api/matrices.h"

#include <cmath>

#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/shape/diagonals.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/operators.h"

namespace strata::internal {

void require_matrices(const char* operation, const Array& x, bool square) {
  if (x.ndim() < 2)
    fail(operation, "matrices have two dimensions at least, got {}", describe(x.type()));
  if (square && x.shape(-1) != x.shape(-2))
    fail(operation, "the matrices must be square, got {}", describe(x.type()));
}

Array adjoint(const Array& x) { return numpy::conj(numpy::matrix_transpose(x)); }
Array symmetrized(const Array& x) { return (x + adjoint(x)) / number_like(x, 2); }
Array diagonals(const Array& x) { return numpy::diagonal(x, {.axis1 = -2, .axis2 = -1}); }

std::vector<Array> factors(const char* operation, std::vector<Array> operands, ir::Attrs attrs) {
  return emit(operands,
              [&](Builder& b, const Values& v) { return b.create(operation, v, attrs).results(); });
}

std::vector<Array> promoted_inexact(const char* operation, std::vector<Array> arrays) {
  const DType dtype = inexact(promoted(operation, arrays)).dtype;
  for (Array& a : arrays) a = cast(a, {dtype, false});
  return arrays;
}

Ints common_batch(const char* operation, std::span<const Array> arrays, int kept) {
  std::vector<Ints> all;
  std::size_t rank = 0;
  for (const Array& a : arrays) {
    Ints s = sizes(a);
    s.resize(s.size() - static_cast<std::size_t>(kept));
    rank = std::max(rank, s.size());
    all.push_back(s);
  }
  Ints out(rank, 1);
  for (const Ints& s : all)
    for (std::size_t i = 0; i < s.size(); ++i) {
      std::int64_t& common = out[rank - s.size() + i];
      if (common != s[i] && common != 1 && s[i] != 1)
        fail(operation, "batches of {} and {} do not broadcast", describe(arrays.front().type()),
             describe(arrays.back().type()));
      if (common == 1) common = s[i];
    }
  return out;
}

Array with_batch(const Array& x, const Ints& batch, int kept) {
  Ints shape = batch;
  const Ints own = sizes(x);
  shape.insert(shape.end(), own.end() - kept, own.end());
  return numpy::broadcast_to(x, shape);
}

double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::bf16: return 0x1p-7;
    case DType::f16: return 0x1p-10;
    case DType::f64:
    case DType::c128: return 0x1p-52;
    default: return 0x1p-23;
  }
}

}  // namespace strata::internal
