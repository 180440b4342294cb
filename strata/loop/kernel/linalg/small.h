// Batches of small matrices (and right hand sides of one triangular matrix), one in each lane of a
// vector, once for each instruction set: every lane does what the plain kernel (cholesky.cc, lu.cc,
// triangular_solve.cc) does with its matrix, in the same order, hence the same bits wherever a
// matrix stands.
//
// All types, computed in f64; complex numbers are divided as std::complex divides (small_number.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "strata/loop/kernel/linalg/factor.h"

namespace strata::loop::small {

/// Matrices of more rows or columns are not small.
inline constexpr std::int64_t kMost = 16;
/// Small matrices at a grid point.
inline constexpr std::int64_t kTogether = 64;

/// Right hand sides in lanes, of one matrix.
inline constexpr std::int64_t kSides = 16;
/// Right hand sides at a grid point, where there are more than of small matrices.
inline constexpr std::int64_t kSidesTogether = 64;

/// How many matrices are a grid point.
constexpr std::int64_t together(std::int64_t rows, std::int64_t columns) {
  return rows <= kMost && columns <= kMost ? kTogether : 1;
}
/// Grid points of a batch.
constexpr std::int64_t points(std::int64_t batch, std::int64_t rows, std::int64_t columns) {
  const std::int64_t size = together(rows, columns);
  return (batch + size - 1) / size;
}

/// The parameters of the kernels, last of all how many matrices there are.
struct CholeskyParams {
  std::int64_t element, lower, n, batch;
};
struct LuParams {
  std::int64_t element, m, n, batch;
};
struct TriangularParams {
  std::int64_t element, left, lower, unit, op, n, m, batch;
};

/// Where the numbers of a triangular system stand, in the order in which its rows are solved: T y =
/// b with T lower triangular, whatever triangle is given and how. Only elements of T on and below
/// the diagonal are read.
class Places {
 public:
  explicit Places(const TriangularParams& p) {
    const bool transposed = (p.op != 0) == (p.left != 0);  // X op(A) = B is op(A)^T X^T = B^T
    const bool lower = (p.lower != 0) != transposed;
    const std::int64_t sign = lower ? 1 : -1, next = p.left ? p.m : 1;
    matrix_ = lower ? 0 : p.n * p.n - 1, row_ = sign * (transposed ? 1 : p.n),
    column_ = sign * (transposed ? p.n : 1);
    sides_ = lower ? 0 : (p.n - 1) * next, next_ = sign * next, side_ = p.left ? 1 : p.n;
  }
  /// T(i, j) in A.
  std::int64_t of(std::int64_t i, std::int64_t j) const { return matrix_ + i * row_ + j * column_; }
  /// Row i of right hand side v, in B and X.
  std::int64_t of_side(std::int64_t i, std::int64_t v) const {
    return sides_ + i * next_ + v * side_;
  }
  std::int64_t between_sides() const { return side_; }

 private:
  std::int64_t matrix_, row_, column_, sides_, next_, side_;
};

/// Grid points of triangular systems: of small ones as above, else kSidesTogether right hand sides
/// each.
constexpr std::int64_t triangular_points(std::int64_t batch, std::int64_t n, std::int64_t m) {
  return n <= kMost && m <= kMost ? points(batch, n, m)
                                  : batch * ((m + kSidesTogether - 1) / kSidesTogether);
}

/// Some matrices of a batch: [begin, end).
struct Range {
  std::int64_t begin, end;
  /// The matrices of grid points [begin, end).
  static Range of(std::int64_t begin, std::int64_t end, std::int64_t size, std::int64_t batch) {
    return {begin * size, std::min(end * size, batch)};
  }
  std::int64_t count() const { return end - begin; }
};

struct InstructionSet {
  const char* name;
  bool (*present)();
  void (*cholesky)(void* const* buffers, const CholeskyParams&, Range);
  void (*lu)(void* const* buffers, const LuParams&, Range);
  void (*triangular_solve)(void* const* buffers, const TriangularParams&, Range);
  /// Right hand sides in lanes instead: sides [begin, end), at most kSides, of one matrix of any
  /// size. Scratch is kSides numbers for each row, of complex ones twice as many.
  void (*right_sides)(void* const* buffers, const TriangularParams&, std::int64_t matrix,
                      Range sides, double* scratch);
};
extern const InstructionSet kPortable, kAvx2, kAvx512;

/// The best one that this CPU has.
const InstructionSet& instruction_set();

/// Whether numbers of a type come in lanes: all do, but in the runtime of object files, which is to
/// stay small, f32 and f64 alone.
constexpr bool has_lanes([[maybe_unused]] std::int64_t element) {
#ifdef STRATA_OBJECT_RUNTIME
  return element == factor::kF32 || element == factor::kF64;
#else
  return true;
#endif
}

/// Whether lanes pay: more than one small matrix.
inline bool fits(std::int64_t element, std::int64_t rows, std::int64_t columns, Range range) {
  return has_lanes(element) && rows <= kMost && columns <= kMost && range.count() > 1;
}

}  // namespace strata::loop::small
