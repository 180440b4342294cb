#include "strata/api/numpy/fft.h"

#include <cmath>
#include <numeric>

#include "strata/api/lax/fft.h"
#include "strata/api/lax/slicing.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/joining.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"

namespace strata::numpy::fft {
namespace {

using internal::describe;
using internal::fail;
using internal::Ints;
using internal::Site;
using lax::FftType;

/// What the result is multiplied by beyond what the transform itself does; inverse functions have
/// names with an i.
double norm_factor(const char* name, const std::string& norm, const Ints& lengths) {
  double count = 1;
  for (std::int64_t n : lengths) count *= static_cast<double>(n);
  const bool inverse = name[0] == 'i';
  if (norm == "backward") return 1;
  if (norm == "ortho") return inverse ? std::sqrt(count) : 1 / std::sqrt(count);
  if (norm == "forward") return inverse ? count : 1 / count;
  fail(name, "norm is \"backward\", \"ortho\" or \"forward\", got \"{}\"", norm);
}

/// The last axes cut to these sizes, or continued with zeros.
Array resized(const Array& x, const Ints& last) {
  std::vector<PadWidth> widths(static_cast<std::size_t>(x.ndim()));
  Ints limit = internal::sizes(x);
  const std::size_t first = limit.size() - last.size();
  bool same = true;
  for (std::size_t i = 0; i < last.size(); ++i) {
    const std::int64_t have = limit[first + i];
    same = same && have == last[i];
    limit[first + i] = std::min(have, last[i]);
    widths[first + i].after = std::max<std::int64_t>(last[i] - have, 0);
  }
  return same ? x : pad(lax::slice(x, Ints(limit.size(), 0), limit), widths);
}

/// The lengths where none are given: those of the axes, of an inverse real transform of what gave
/// the last one.
Ints own_lengths(const Array& x, std::size_t count, FftType type) {
  const Ints all = internal::sizes(x);
  Ints out(all.end() - static_cast<std::ptrdiff_t>(count), all.end());
  if (type == FftType::IRFFT && !out.empty())
    out.back() = std::max<std::int64_t>(0, 2 * (out.back() - 1));
  return out;
}

Ints resolved(const char* name, const std::optional<Sizes>& axes, std::size_t count, int rank) {
  Ints out;
  if (axes)
    for (std::int64_t a : *axes) out.push_back(internal::axis_of(name, a, rank));
  else
    for (auto i = static_cast<std::int64_t>(count); i > 0; --i) out.push_back(rank - i);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (std::find(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(i), out[i]) !=
        out.begin() + static_cast<std::ptrdiff_t>(i))
      fail(name, "axis {} is given twice", out[i]);
  return out;
}

Array over(const char* name, FftType type, const Operand& operand, const std::optional<Sizes>& s,
           const std::optional<Sizes>& axes, const std::string& norm) {
  Site site(operand);
  Array x = operand;
  if (s && axes && s->size() != axes->size())
    fail(name, "{} lengths are given for {} axes", s->size(), axes->size());
  const std::size_t count = axes ? axes->size()
                            : s  ? s->size()
                                 : static_cast<std::size_t>(x.ndim());
  if (static_cast<int>(count) > x.ndim())
    fail(name, "{} axes are transformed of {}", count, describe(x.type()));
  const Ints from = resolved(name, axes, count, x.ndim());
  Ints to(count);
  std::iota(to.begin(), to.end(), x.ndim() - static_cast<std::int64_t>(count));
  x = moveaxis(x, from, to);
  const Ints lengths = s ? s->get() : own_lengths(x, count, type);
  if (s) {
    for (std::int64_t n : lengths)
      if (n <= 0) fail(name, "lengths are positive, got {}", n);
    Ints cut = lengths;
    if (type == FftType::IRFFT && !cut.empty()) cut.back() = cut.back() / 2 + 1;
    x = resized(x, cut);
  }
  const double factor = norm_factor(name, norm, lengths);
  x = lax::fft(x, type, lengths);
  if (factor != 1) x = x * internal::number_like(x, factor);
  return moveaxis(x, to, from);
}

Array along(const char* name, FftType type, const Operand& x, const Line& o) {
  return over(name, type, x, o.n ? std::optional(Sizes(*o.n)) : std::nullopt, Sizes(o.axis),
              o.norm);
}

Array over_two(const char* name, FftType type, const Operand& x, const Plane& o) {
  Site site(x);
  if (o.axes.size() != 2) fail(name, "two axes are transformed, got {}", o.axes.size());
  return over(name, type, x, o.s, o.axes, o.norm);
}

/// The length along the axis of a transform that says none.
std::int64_t length(const char* name, const Operand& x, const Line& o) {
  return x->shape(internal::axis_of(name, o.axis, x->ndim()));
}

DType default_float(std::optional<DType> dtype) {
  return dtype.value_or(canonical(DType::f64, x64_enabled()));
}

/// Along these axes by half their sizes, rounded down, times `sign`.
Array shifted(const char* name, const Operand& x, const Axes& axes, std::int64_t sign) {
  Site site(x);
  Ints which, by;
  if (axes.all())
    for (int i = 0; i < x->ndim(); ++i) which.push_back(i);
  else
    for (std::int64_t a : axes.given()) which.push_back(internal::axis_of(name, a, x->ndim()));
  for (std::int64_t a : which) by.push_back(sign * (x->shape(static_cast<int>(a)) / 2));
  return which.empty() ? x.array : roll(x, by, which);
}

}  // namespace

Array fft(const Operand& a, const Line& o) { return along("fft", FftType::FFT, a, o); }
Array ifft(const Operand& a, const Line& o) { return along("ifft", FftType::IFFT, a, o); }
Array rfft(const Operand& a, const Line& o) { return along("rfft", FftType::RFFT, a, o); }
Array irfft(const Operand& a, const Line& o) { return along("irfft", FftType::IRFFT, a, o); }

Array hfft(const Operand& a, const Line& o) {
  Site site(a);
  const Array x = along("hfft", FftType::IRFFT, conj(a), o);
  return x * internal::number_like(
                 x, static_cast<double>(o.n.value_or(2 * (length("hfft", a, o) - 1))));
}
Array ihfft(const Operand& a, const Line& o) {
  Site site(a);
  const Array x = conj(along("ihfft", FftType::RFFT, a, o));
  return x * internal::number_like(x, 1 / static_cast<double>(o.n.value_or(length("ihfft", a, o))));
}

Array fft2(const Operand& a, const Plane& o) { return over_two("fft2", FftType::FFT, a, o); }
Array ifft2(const Operand& a, const Plane& o) { return over_two("ifft2", FftType::IFFT, a, o); }
Array rfft2(const Operand& a, const Plane& o) { return over_two("rfft2", FftType::RFFT, a, o); }
Array irfft2(const Operand& a, const Plane& o) { return over_two("irfft2", FftType::IRFFT, a, o); }

Array fftn(const Operand& a, const Space& o) {
  return over("fftn", FftType::FFT, a, o.s, o.axes, o.norm);
}
Array ifftn(const Operand& a, const Space& o) {
  return over("ifftn", FftType::IFFT, a, o.s, o.axes, o.norm);
}
Array rfftn(const Operand& a, const Space& o) {
  return over("rfftn", FftType::RFFT, a, o.s, o.axes, o.norm);
}
Array irfftn(const Operand& a, const Space& o) {
  return over("irfftn", FftType::IRFFT, a, o.s, o.axes, o.norm);
}

Array fftfreq(std::int64_t n, double d, std::optional<DType> dtype, Where where) {
  Site site(where);
  const DType result = default_float(dtype),
              inside = is_inexact(result) ? result : default_float({});
  const Array i = arange(n, inside);
  const Array k = remainder(i + n / 2, n) - n / 2;
  return astype(k / internal::number_like(k, d * static_cast<double>(n)), result);
}
Array rfftfreq(std::int64_t n, double d, std::optional<DType> dtype, Where where) {
  Site site(where);
  const Array k = arange(n / 2 + 1, default_float(dtype));
  return k / internal::cast(Array(d * static_cast<double>(n)), {k.dtype(), false});
}

Array fftshift(const Operand& x, const Axes& axes) { return shifted("fftshift", x, axes, 1); }
Array ifftshift(const Operand& x, const Axes& axes) { return shifted("ifftshift", x, axes, -1); }

}  // namespace strata::numpy::fft
