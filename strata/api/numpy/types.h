// Dtypes, and what an array is.
#pragma once

#include <cstdint>
#include <string>
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

/// The narrow types. Upstream's one bit integers have no use beyond bool_, and none here.
inline constexpr DType int2 = DType::i2, int4 = DType::i4, uint2 = DType::ui2, uint4 = DType::ui4;
/// Floats of less than a byte: exponent and mantissa in bits.
inline constexpr DType float4_e2m1fn = DType::f4E2M1FN, float6_e2m3fn = DType::f6E2M3FN,
                       float6_e3m2fn = DType::f6E3M2FN;
/// Floats of a byte: exponent and mantissa in bits.
inline constexpr DType float8_e3m4 = DType::f8E3M4, float8_e4m3 = DType::f8E4M3,
                       float8_e4m3b11fnuz = DType::f8E4M3B11FNUZ, float8_e4m3fn = DType::f8E4M3FN,
                       float8_e4m3fnuz = DType::f8E4M3FNUZ, float8_e5m2 = DType::f8E5M2,
                       float8_e5m2fnuz = DType::f8E5M2FNUZ, float8_e8m0fnu = DType::f8E8M0FNU;

/// A dtype by NumPy's name ("float32", "int4", "float8_e4m3fn", "bool"). Throws Error for a name of
/// none.
DType dtype(const std::string& name, Where where = Where::current());

/// What a float type can say (of a complex type: its parts).
struct FloatInfo {
  DType dtype;
  int bits, nmant, nexp, minexp, maxexp, precision;
  double eps, epsneg, max, min, tiny, smallest_normal, smallest_subnormal, resolution;
};
/// What floats of a dtype can hold: bits, eps, max, tiny. Throws Error for other dtypes.
FloatInfo finfo(DType dtype, Where where = Where::current());
/// The range of an integer type.
struct IntegerInfo {
  DType dtype;
  int bits;
  std::int64_t min;
  std::uint64_t max;
};
/// The least and greatest integer of a dtype. Throws Error for other dtypes.
IntegerInfo iinfo(DType dtype, Where where = Where::current());
/// Whether every value of one type may become the other: NumPy's "safe"; "same_kind": also to a
/// narrower type of the kind; "unsafe": always; "equiv" and "no": the type itself.
bool can_cast(DType from, DType to, const std::string& casting = "safe",
              Where where = Where::current());

/// The number of dimensions of x.
inline int ndim(const Operand& x) { return x->ndim(); }
/// The sizes of x. Throws Error where they are open.
inline std::vector<std::int64_t> shape(const Operand& x) { return x->shape().sizes(); }
/// The number of elements of x.
inline std::int64_t size(const Operand& x) { return x->size(); }
inline bool iscomplexobj(const Operand& x) { return is_complex(x->dtype()); }
/// Whether x is of no complex dtype.
inline bool isrealobj(const Operand& x) { return !is_complex(x->dtype()); }
/// The dtype in which two meet by promotion.
DType promote_types(DType x, DType y);
/// The dtype in which these meet by promotion, weak ones giving way.
DType result_type(const std::vector<Array>& arrays);
/// The shape to which all broadcast.
std::vector<std::int64_t> broadcast_shapes(const std::vector<Sizes>& shapes,
                                           Where where = Where::current());
/// x itself: arrays do not change, so that nothing is copied.
inline Array copy(const Operand& x) { return x; }

}  // namespace strata::numpy

namespace strata {

using numpy::broadcast_shapes;
using numpy::can_cast;
using numpy::copy;
using numpy::dtype;
using numpy::finfo;
using numpy::float4_e2m1fn;
using numpy::float6_e2m3fn;
using numpy::float6_e3m2fn;
using numpy::float8_e3m4;
using numpy::float8_e4m3;
using numpy::float8_e4m3b11fnuz;
using numpy::float8_e4m3fn;
using numpy::float8_e4m3fnuz;
using numpy::float8_e5m2;
using numpy::float8_e5m2fnuz;
using numpy::float8_e8m0fnu;
using numpy::iinfo;
using numpy::int2;
using numpy::int4;
using numpy::iscomplexobj;
using numpy::isrealobj;
using numpy::ndim;
using numpy::promote_types;
using numpy::result_type;
using numpy::shape;
using numpy::size;
using numpy::uint2;
using numpy::uint4;

}  // namespace strata
