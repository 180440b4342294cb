#include "strata/type/dtype.h"

#include <array>

#include "strata/base/check.h"

namespace strata {
namespace {

enum class Kind : std::uint8_t { boolean, signed_, unsigned_, float_, complex };
struct Row {
  DType dtype;
  std::string_view name;
  int bits;
  Kind kind;
};

constexpr std::array<Row, kDTypeCount> kRows{{
    {DType::i1, "i1", 1, Kind::boolean},
    {DType::i2, "i2", 2, Kind::signed_},
    {DType::i4, "i4", 4, Kind::signed_},
    {DType::i8, "i8", 8, Kind::signed_},
    {DType::i16, "i16", 16, Kind::signed_},
    {DType::i32, "i32", 32, Kind::signed_},
    {DType::i64, "i64", 64, Kind::signed_},
    {DType::ui2, "ui2", 2, Kind::unsigned_},
    {DType::ui4, "ui4", 4, Kind::unsigned_},
    {DType::ui8, "ui8", 8, Kind::unsigned_},
    {DType::ui16, "ui16", 16, Kind::unsigned_},
    {DType::ui32, "ui32", 32, Kind::unsigned_},
    {DType::ui64, "ui64", 64, Kind::unsigned_},
    {DType::f4E2M1FN, "f4E2M1FN", 4, Kind::float_},
    {DType::f6E2M3FN, "f6E2M3FN", 6, Kind::float_},
    {DType::f6E3M2FN, "f6E3M2FN", 6, Kind::float_},
    {DType::f8E3M4, "f8E3M4", 8, Kind::float_},
    {DType::f8E4M3, "f8E4M3", 8, Kind::float_},
    {DType::f8E4M3B11FNUZ, "f8E4M3B11FNUZ", 8, Kind::float_},
    {DType::f8E4M3FN, "f8E4M3FN", 8, Kind::float_},
    {DType::f8E4M3FNUZ, "f8E4M3FNUZ", 8, Kind::float_},
    {DType::f8E5M2, "f8E5M2", 8, Kind::float_},
    {DType::f8E5M2FNUZ, "f8E5M2FNUZ", 8, Kind::float_},
    {DType::f8E8M0FNU, "f8E8M0FNU", 8, Kind::float_},
    {DType::bf16, "bf16", 16, Kind::float_},
    {DType::f16, "f16", 16, Kind::float_},
    {DType::f32, "f32", 32, Kind::float_},
    {DType::f64, "f64", 64, Kind::float_},
    {DType::c64, "complex<f32>", 64, Kind::complex},
    {DType::c128, "complex<f64>", 128, Kind::complex},
}};

const Row& row(DType d) {
  const Row& r = kRows[static_cast<std::size_t>(d)];
  STRATA_CHECK(r.dtype == d, "dtype table out of order");
  return r;
}

}  // namespace

std::string_view name(DType d) { return row(d).name; }

std::optional<DType> parse_dtype(std::string_view text) {
  for (const Row& r : kRows)
    if (r.name == text) return r.dtype;
  return std::nullopt;
}

int bit_width(DType d) { return row(d).bits; }
std::size_t byte_width(DType d) { return static_cast<std::size_t>(row(d).bits + 7) / 8; }
bool is_bool(DType d) { return row(d).kind == Kind::boolean; }
bool is_signed(DType d) { return row(d).kind == Kind::signed_; }
bool is_unsigned(DType d) { return row(d).kind == Kind::unsigned_; }
bool is_integer(DType d) { return is_signed(d) || is_unsigned(d); }
bool is_float(DType d) { return row(d).kind == Kind::float_; }
bool is_complex(DType d) { return row(d).kind == Kind::complex; }
bool is_inexact(DType d) { return is_float(d) || is_complex(d); }

DType real_part(DType d) {
  if (d == DType::c64) return DType::f32;
  if (d == DType::c128) return DType::f64;
  return d;
}

DType compute_type(DType d) { return is_float(d) && bit_width(d) < 32 ? DType::f32 : d; }

}  // namespace strata
