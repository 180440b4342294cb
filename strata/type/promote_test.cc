#include "strata/type/promote.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "strata/base/error.h"

namespace strata {
namespace {

struct Row {
  bool x64;
  const char* operand;
  const char* results;  // with each operand of the same mode, in the order of the rows; "-": no
                        // promotion, "*": weak
};
// Printed by jax._src.dtypes.lattice_result_type of JAX 0.10.2; i*, f*, c* are Python scalars.
const Row kJax[] = {
    {false, "i1",
     "i1 i8 i16 i32 ui8 ui16 ui32 bf16 f16 f32 c64 f8E4M3FN f8E5M2 i4 ui4 i32* f32* c64*"},
    {false, "i8", "i8 i8 i16 i32 i16 i32 i32 bf16 f16 f32 c64 f8E4M3FN f8E5M2 - - i8 f32* c64*"},
    {false, "i16",
     "i16 i16 i16 i32 i16 i32 i32 bf16 f16 f32 c64 f8E4M3FN f8E5M2 - - i16 f32* c64*"},
    {false, "i32",
     "i32 i32 i32 i32 i32 i32 i32 bf16 f16 f32 c64 f8E4M3FN f8E5M2 - - i32 f32* c64*"},
    {false, "ui8",
     "ui8 i16 i16 i32 ui8 ui16 ui32 bf16 f16 f32 c64 f8E4M3FN f8E5M2 - - ui8 f32* c64*"},
    {false, "ui16",
     "ui16 i32 i32 i32 ui16 ui16 ui32 bf16 f16 f32 c64 f8E4M3FN f8E5M2 - - ui16 f32* c64*"},
    {false, "ui32",
     "ui32 i32 i32 i32 ui32 ui32 ui32 bf16 f16 f32 c64 f8E4M3FN f8E5M2 - - ui32 f32* c64*"},
    {false, "bf16", "bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 f32 f32 c64 - - - - bf16 bf16 c64"},
    {false, "f16", "f16 f16 f16 f16 f16 f16 f16 f32 f16 f32 c64 - - - - f16 f16 c64"},
    {false, "f32", "f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 c64 - - - - f32 f32 c64"},
    {false, "c64", "c64 c64 c64 c64 c64 c64 c64 c64 c64 c64 c64 - - - - c64 c64 c64"},
    {false, "f8E4M3FN",
     "f8E4M3FN f8E4M3FN f8E4M3FN f8E4M3FN f8E4M3FN f8E4M3FN f8E4M3FN - - - - f8E4M3FN - - - "
     "f8E4M3FN f8E4M3FN -"},
    {false, "f8E5M2",
     "f8E5M2 f8E5M2 f8E5M2 f8E5M2 f8E5M2 f8E5M2 f8E5M2 - - - - - f8E5M2 - - f8E5M2 f8E5M2 -"},
    {false, "i4", "i4 - - - - - - - - - - - - i4 - i4 - -"},
    {false, "ui4", "ui4 - - - - - - - - - - - - - ui4 ui4 - -"},
    {false, "i*",
     "i32* i8 i16 i32 ui8 ui16 ui32 bf16 f16 f32 c64 f8E4M3FN f8E5M2 i4 ui4 i32* f32* c64*"},
    {false, "f*",
     "f32* f32* f32* f32* f32* f32* f32* bf16 f16 f32 c64 f8E4M3FN f8E5M2 - - f32* f32* c64*"},
    {false, "c*", "c64* c64* c64* c64* c64* c64* c64* c64 c64 c64 c64 - - - - c64* c64* c64*"},
    {true, "i1",
     "i1 i8 i16 i32 i64 ui8 ui16 ui32 ui64 bf16 f16 f32 f64 c64 c128 f8E4M3FN f8E5M2 i4 ui4 i64* "
     "f64* c128*"},
    {true, "i8",
     "i8 i8 i16 i32 i64 i16 i32 i64 f64* bf16 f16 f32 f64 c64 c128 f8E4M3FN f8E5M2 - - i8 f64* "
     "c128*"},
    {true, "i16",
     "i16 i16 i16 i32 i64 i16 i32 i64 f64* bf16 f16 f32 f64 c64 c128 f8E4M3FN f8E5M2 - - i16 f64* "
     "c128*"},
    {true, "i32",
     "i32 i32 i32 i32 i64 i32 i32 i64 f64* bf16 f16 f32 f64 c64 c128 f8E4M3FN f8E5M2 - - i32 f64* "
     "c128*"},
    {true, "i64",
     "i64 i64 i64 i64 i64 i64 i64 i64 f64* bf16 f16 f32 f64 c64 c128 f8E4M3FN f8E5M2 - - i64 f64* "
     "c128*"},
    {true, "ui8",
     "ui8 i16 i16 i32 i64 ui8 ui16 ui32 ui64 bf16 f16 f32 f64 c64 c128 f8E4M3FN f8E5M2 - - ui8 "
     "f64* c128*"},
    {true, "ui16",
     "ui16 i32 i32 i32 i64 ui16 ui16 ui32 ui64 bf16 f16 f32 f64 c64 c128 f8E4M3FN f8E5M2 - - ui16 "
     "f64* c128*"},
    {true, "ui32",
     "ui32 i64 i64 i64 i64 ui32 ui32 ui32 ui64 bf16 f16 f32 f64 c64 c128 f8E4M3FN f8E5M2 - - ui32 "
     "f64* c128*"},
    {true, "ui64",
     "ui64 f64* f64* f64* f64* ui64 ui64 ui64 ui64 bf16 f16 f32 f64 c64 c128 f8E4M3FN f8E5M2 - - "
     "ui64 f64* c128*"},
    {true, "bf16",
     "bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 f32 f32 f64 c64 c128 - - - - bf16 bf16 "
     "c64"},
    {true, "f16",
     "f16 f16 f16 f16 f16 f16 f16 f16 f16 f32 f16 f32 f64 c64 c128 - - - - f16 f16 c64"},
    {true, "f32",
     "f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f64 c64 c128 - - - - f32 f32 c64"},
    {true, "f64",
     "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 c128 c128 - - - - f64 f64 c128"},
    {true, "c64",
     "c64 c64 c64 c64 c64 c64 c64 c64 c64 c64 c64 c64 c128 c64 c128 - - - - c64 c64 c64"},
    {true, "c128",
     "c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 - - - - c128 c128 "
     "c128"},
    {true, "f8E4M3FN",
     "f8E4M3FN f8E4M3FN f8E4M3FN f8E4M3FN f8E4M3FN f8E4M3FN f8E4M3FN f8E4M3FN f8E4M3FN - - - - - - "
     "f8E4M3FN - - - f8E4M3FN f8E4M3FN -"},
    {true, "f8E5M2",
     "f8E5M2 f8E5M2 f8E5M2 f8E5M2 f8E5M2 f8E5M2 f8E5M2 f8E5M2 f8E5M2 - - - - - - - f8E5M2 - - "
     "f8E5M2 f8E5M2 -"},
    {true, "i4", "i4 - - - - - - - - - - - - - - - - i4 - i4 - -"},
    {true, "ui4", "ui4 - - - - - - - - - - - - - - - - - ui4 ui4 - -"},
    {true, "i*",
     "i64* i8 i16 i32 i64 ui8 ui16 ui32 ui64 bf16 f16 f32 f64 c64 c128 f8E4M3FN f8E5M2 i4 ui4 i64* "
     "f64* c128*"},
    {true, "f*",
     "f64* f64* f64* f64* f64* f64* f64* f64* f64* bf16 f16 f32 f64 c64 c128 f8E4M3FN f8E5M2 - - "
     "f64* f64* c128*"},
    {true, "c*",
     "c128* c128* c128* c128* c128* c128* c128* c128* c128* c64 c64 c64 c128 c64 c128 - - - - "
     "c128* c128* c128*"},
};

WeakDType operand(const std::string& text, bool x64) {
  if (text == "i*") return {x64 ? DType::i64 : DType::i32, true};
  if (text == "f*") return {x64 ? DType::f64 : DType::f32, true};
  if (text == "c*") return {x64 ? DType::c128 : DType::c64, true};
  return {*parse_dtype(text == "c64"    ? "complex<f32>"
                       : text == "c128" ? "complex<f64>"
                                        : text),
          false};
}

std::string result(WeakDType a, WeakDType b, bool x64) {
  try {
    WeakDType r = promote(a, b, x64);
    std::string text(name(r.dtype));
    if (text == "complex<f32>") text = "c64";
    if (text == "complex<f64>") text = "c128";
    return text + (r.weak ? "*" : "");
  } catch (const Error&) {
    return "-";
  }
}

TEST(Promote, EqualsJaxForEveryPair) {
  for (bool x64 : {false, true}) {
    std::vector<const Row*> rows;
    for (const Row& row : kJax)
      if (row.x64 == x64) rows.push_back(&row);
    for (const Row* row : rows) {
      std::istringstream results(row->results);
      for (const Row* other : rows) {
        std::string expected;
        results >> expected;
        EXPECT_EQ(result(operand(row->operand, x64), operand(other->operand, x64), x64), expected)
            << row->operand << " with " << other->operand << (x64 ? " in x64" : "");
      }
    }
  }
}

TEST(Promote, IsSymmetricAndIdempotent) {
  for (int a = 0; a < kDTypeCount; ++a)
    for (int b = 0; b < kDTypeCount; ++b) {
      WeakDType x{static_cast<DType>(a)}, y{static_cast<DType>(b)};
      EXPECT_EQ(result(x, y, true), result(y, x, true));
      EXPECT_EQ(promote(x, x, true), x);
    }
}

TEST(Promote, SaysWhichTypesDoNotMeet) {
  try {
    promote({DType::f8E4M3FN}, {DType::f32}, false);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "promote: dtypes f8E4M3FN, f32 have no implicit promotion; convert one of them "
                 "with astype");
  }
}

}  // namespace
}  // namespace strata
