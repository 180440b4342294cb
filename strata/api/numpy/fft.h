// jax.numpy.fft: discrete Fourier transforms of any length.
//
//   fft(x)   fft(x, {.n = 8, .axis = 0})   fft2(x, {.norm = "ortho"})   irfftn(x, {.s = {4, 6}})
//
// Results are c64 (c128 of 64-bit operands), of irfft and hfft f32 (f64). `n` and `s` are lengths
// along the axes: the operand is cut, or continued with zeros; of inverse real transforms they are
// those of the result, 2 (size - 1) where left out. `norm` says which direction divides by the
// number of elements: "backward" the inverse one, "forward" the other, "ortho" both by the square
// root. Errors: a norm that there is not, lengths that are not positive, axes given twice, complex
// operands of rfft.
#pragma once

#include <optional>
#include <string>

#include "strata/api/array.h"

namespace strata::numpy::fft {

struct Line {
  internal::Named named = internal::Named();
  std::optional<std::int64_t> n = std::nullopt;
  std::int64_t axis = -1;
  std::string norm = "backward";
};
/// Along one axis.
Array fft(const Operand& a, const Line& options = {});
/// The inverse of fft: the sum of a[k] exp(2 pi i j k / n) over n, along one axis.
Array ifft(const Operand& a, const Line& options = {});
/// Of real arrays: the first n / 2 + 1 elements, of which the others are conjugates; and back.
Array rfft(const Operand& a, const Line& options = {});
/// The inverse of rfft: real, of n elements, 2 (m - 1) of m unless given.
Array irfft(const Operand& a, const Line& options = {});
/// Of arrays whose transform is real, given by their first half; and back.
Array hfft(const Operand& a, const Line& options = {});
/// The inverse of hfft: half of the spectrum of real signals, conjugated.
Array ihfft(const Operand& a, const Line& options = {});

struct Plane {
  internal::Named named = internal::Named();
  OptionalSizes s = {};
  Sizes axes = {-2, -1};
  std::string norm = "backward";
};
/// Over two axes.
Array fft2(const Operand& a, const Plane& options = {});
/// The inverse of fft2: over two axes, the last ones unless given.
Array ifft2(const Operand& a, const Plane& options = {});
/// The transform of real signals over two axes, of which the last gives its first half.
Array rfft2(const Operand& a, const Plane& options = {});
/// The inverse of rfft2: real.
Array irfft2(const Operand& a, const Plane& options = {});

struct Space {
  internal::Named named = internal::Named();
  OptionalSizes s = {}, axes = {};
  std::string norm = "backward";
};
/// Over all axes, the last ones where only `s` is given, or those given. The last of the axes is
/// the one that is halved.
Array fftn(const Operand& a, const Space& options = {});
/// The inverse of fftn: over all axes unless given.
Array ifftn(const Operand& a, const Space& options = {});
/// The transform of real signals over several axes, of which the last gives its first half.
Array rfftn(const Operand& a, const Space& options = {});
/// The inverse of rfftn: real.
Array irfftn(const Operand& a, const Space& options = {});

/// The frequencies of fft's and rfft's elements, in cycles per unit of the spacing d; f32 unless a
/// dtype is given.
Array fftfreq(std::int64_t n, double d = 1, std::optional<DType> dtype = {},
              Where where = Where::current());
/// The frequencies of rfft of n samples, d apart: 0 up to 1 / (2 d).
Array rfftfreq(std::int64_t n, double d = 1, std::optional<DType> dtype = {},
               Where where = Where::current());
/// The frequency 0 moved to the middle, and back: along all axes, or the given ones.
Array fftshift(const Operand& x, const Axes& axes = {});
/// The inverse of fftshift: frequency 0 from the middle to the front.
Array ifftshift(const Operand& x, const Axes& axes = {});

}  // namespace strata::numpy::fft
