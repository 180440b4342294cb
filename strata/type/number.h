// Numbers as MLIR writes them: floats of every dtype to and from bits.
//
// A finite float is six digits in scientific notation when that reads back as the same value
// ("1.000000e-01"), else enough digits for any value of its type ("0.949999988", "9.99999993E-9"),
// and when that has no decimal point, or for infinities and NaN, its bits ("0xFF800000"). Source:
// printFloatValue in mlir/lib/IR/AsmPrinter.cpp and IEEEFloat::toString in
// llvm/lib/Support/APFloat.cpp, whose rounding (half up, after a truncation) is kept digit by
// digit, because byte equality with upstream's text depends on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "strata/type/dtype.h"

namespace strata {

/// The bits of one element of a float type as MLIR prints it.
std::string float_text(std::uint64_t bits, DType dtype);

/// Decimal text ("-1.5e3", "2.", "7") rounded to nearest even; nothing when the text is no number.
/// Overflow becomes infinity, or the type's largest value or NaN where it has no infinity.
std::optional<std::uint64_t> parse_float_bits(std::string_view text, DType dtype);

/// The value that these bits of a float type stand for.
double float_value(std::uint64_t bits, DType dtype);
/// A double rounded to the bits of a float type, ties to even.
std::uint64_t float_bits(double value, DType dtype);

}  // namespace strata
