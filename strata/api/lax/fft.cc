#include "strata/api/lax/fft.h"

#include <numeric>

#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/trace/compose.h"

namespace strata::lax {
namespace {

using internal::describe;
using internal::fail;
using internal::Ints;
using internal::Site;

const char* name_of(FftType type) {
  switch (type) {
    case FftType::FFT: return "FFT";
    case FftType::IFFT: return "IFFT";
    case FftType::RFFT: return "RFFT";
    case FftType::IRFFT: return "IRFFT";
  }
  return "";
}

bool is_forward(FftType type) { return type == FftType::FFT || type == FftType::RFFT; }

/// The operand's dtype as the transform takes it.
Array prepared(const Array& x, FftType type) {
  if (type != FftType::RFFT) {
    const bool wide = x.dtype() == DType::f64 || x.dtype() == DType::c128;
    return internal::cast(x, {wide ? DType::c128 : DType::c64, false});
  }
  if (is_complex(x.dtype())) fail("fft", "RFFT takes real arrays, got {}", describe(x.type()));
  const Array y = internal::as_inexact(x);
  if (y.dtype() != DType::f32 && y.dtype() != DType::f64)
    fail("fft", "RFFT takes f32 and f64, got {}", describe(x.type()));
  return internal::strong(y);
}

/// At most three lengths.
Array together(const Array& x, FftType type, const Ints& lengths) {
  return internal::emit_one({x}, false, [&](internal::Builder& b, const internal::Values& v) {
    return b
        .create("stablehlo.fft", {v[0]},
                {{"fft_type", std::string(name_of(type))}, {"fft_length", lengths}})
        .result();
  });
}

Sizes range(int begin, int end) {
  Ints out(static_cast<std::size_t>(end - begin));
  std::iota(out.begin(), out.end(), begin);
  return out;
}

/// More than three lengths: the last ones first where the transform goes forward, last where it
/// goes back.
Array in_turn(const Array& x, FftType type, const Ints& lengths) {
  if (lengths.size() <= 3) return together(x, type, lengths);
  const int n = lengths.size() == 4 ? 2 : 3, rank = x.ndim(),
            first = rank - static_cast<int>(lengths.size());
  const Ints last(lengths.end() - n, lengths.end()), others(lengths.begin(), lengths.end() - n);
  const Sizes from = range(first, rank - n), to = range(first + n, rank);
  if (is_forward(type))
    return numpy::moveaxis(
        in_turn(numpy::moveaxis(together(x, type, last), from, to), FftType::FFT, others), to,
        from);
  return together(
      numpy::moveaxis(in_turn(numpy::moveaxis(x, from, to), FftType::IFFT, others), to, from), type,
      last);
}

}  // namespace

Array fft(const Operand& x, FftType type, const Sizes& lengths) {
  Site site(x);
  const Array y = prepared(x, type);
  if (lengths.size() == 0) return y;
  if (static_cast<int>(lengths.size()) > y.ndim())
    fail("fft", "{} lengths are given for {}", lengths.size(), describe(x->type()));
  return in_turn(y, type, lengths.get());
}

}  // namespace strata::lax
