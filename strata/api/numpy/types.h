// Dtypes, and what an array is.
#pragma once

#include <vector>

#include "strata/api/array.h"

namespace strata::numpy {

using strata::bfloat16;
using strata::bool_;
using strata::complex128;
using strata::complex64;
using strata::float16;
using strata::float32;
using strata::float64;
using strata::int16;
using strata::int32;
using strata::int64;
using strata::int8;
using strata::uint16;
using strata::uint32;
using strata::uint64;
using strata::uint8;

inline int ndim(const Operand& x) { return x->ndim(); }
inline std::vector<std::int64_t> shape(const Operand& x) { return x->shape().sizes(); }
inline std::int64_t size(const Operand& x) { return x->size(); }
inline bool iscomplexobj(const Operand& x) { return is_complex(x->dtype()); }
inline bool isrealobj(const Operand& x) { return !is_complex(x->dtype()); }
/// The dtype in which two meet, and in which arrays and C++ scalars do.
DType promote_types(DType x, DType y);
DType result_type(const std::vector<Array>& arrays);
/// The shape to which all broadcast.
std::vector<std::int64_t> broadcast_shapes(const std::vector<Sizes>& shapes, Where where = Where::current());
/// The same elements; arrays do not change, so that nothing is copied.
inline Array copy(const Operand& x) { return x; }

}  // namespace strata::numpy
