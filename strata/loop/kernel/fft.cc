// fft: the discrete Fourier transform of 1 to 3 dimensions, of any lengths.
//
// Buffers: input, result (complex numbers as pairs, in c64 or c128; the real side of RFFT and IRFFT as f32 or f64).
// Parameters: kind (0 FFT, 1 IFFT, 2 RFFT, 3 IRFFT), 1 for f64, dimensions, and three lengths (of the real side), unused
// ones first and 1. A grid point is one transform.
//
// Lengths whose prime factors are small go by mixed radix (Stockham, so nothing is permuted), others by Bluestein's
// convolution. Everything is computed in f64, also for c64, which is then rounded once; the roots of unity come from octants
// in extended precision, so each is the nearest f64 but for a few in a thousand, and they do not drift with the length.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

extern "C" void strata_fft(void* const* buffers, std::int64_t begin, std::int64_t end);

namespace {

using Complex = std::complex<double>;
using Signal = std::vector<Complex>;

constexpr std::int64_t kLargestRadix = 31;

/// Without the special cases for infinities that operator* has.
Complex times(Complex a, Complex b) { return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()}; }

/// exp(-2 pi i k / n), 0 <= k < n: the angle is folded into an eighth of the circle.
Complex root(std::int64_t k, std::int64_t n) {
  constexpr long double kPi = 3.14159265358979323846264338327950288L;
  std::int64_t eighth = 8 * k / n, rest = 8 * k - eighth * n;  // of n
  if (eighth % 2 == 1) rest = n - rest;
  long double angle = kPi * static_cast<long double>(rest) / (4 * static_cast<long double>(n));
  double c = static_cast<double>(std::cos(angle)), s = static_cast<double>(std::sin(angle));
  if ((eighth + 1) / 2 % 2 == 1) std::swap(c, s);
  bool left = eighth >= 2 && eighth < 6, below = eighth >= 4;
  return {left ? -c : c, below ? s : -s};
}

/// What a length needs, made once: factors and roots, or the parts of Bluestein's convolution.
struct Plan {
  std::int64_t n;
  std::vector<std::int64_t> radices;  // empty where Bluestein
  Signal roots;                       // exp(-2 pi i k / n)
  Signal chirp, filter;               // exp(-pi i k^2 / n); the transform of its conjugate, of length inner->n
  std::shared_ptr<const Plan> inner;

  explicit Plan(std::int64_t length);
  std::int64_t cost() const { return n + (inner ? static_cast<std::int64_t>(filter.size()) : 0); }
  /// In place; `spare` is scratch.
  void run(Signal& x, Signal& spare) const;

 private:
  void mixed_radix(Signal& x, Signal& spare) const;
  void bluestein(Signal& x) const;
};

std::shared_ptr<const Plan> plan_of(std::int64_t n);

Plan::Plan(std::int64_t length) : n(length) {
  std::int64_t rest = n;
  for (std::int64_t p : {4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31})
    for (; rest % p == 0; rest /= p) radices.push_back(p);
  if (rest == 1) {
    for (std::int64_t k = 0; k < n; ++k) roots.push_back(root(k, n));
    return;
  }
  radices.clear();
  std::int64_t size = 1;
  while (size < 2 * n - 1) size *= 2;
  inner = plan_of(size);
  for (std::int64_t k = 0; k < n; ++k)
    chirp.push_back(root(static_cast<std::int64_t>(static_cast<unsigned __int128>(k) * static_cast<unsigned __int128>(k) % static_cast<unsigned __int128>(2 * n)), 2 * n));
  filter.assign(static_cast<std::size_t>(size), Complex());
  for (std::int64_t k = 0; k < n; ++k)
    filter[static_cast<std::size_t>(k)] = filter[static_cast<std::size_t>((size - k) % size)] = std::conj(chirp[static_cast<std::size_t>(k)]);
  Signal spare;
  inner->run(filter, spare);
}

/// y[k] = sum over j of x[j] w^(jk), for the smallest radices by hand.
void butterfly(const Complex* x, std::int64_t radix, const Complex* roots, std::int64_t step, Complex* y) {
  if (radix == 2) {
    y[0] = x[0] + x[1];
    y[1] = x[0] - x[1];
    return;
  }
  if (radix == 4) {
    Complex a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = x[1] - x[3];
    Complex turned{d.imag(), -d.real()};  // -i d
    y[0] = a + c;
    y[1] = b + turned;
    y[2] = a - c;
    y[3] = b - turned;
    return;
  }
  for (std::int64_t k = 0; k < radix; ++k) {
    Complex sum = x[0];
    for (std::int64_t j = 1; j < radix; ++j) sum += times(x[j], roots[j * k % radix * step]);
    y[k] = sum;
  }
}

void Plan::mixed_radix(Signal& x, Signal& spare) const {
  spare.resize(x.size());
  Complex in[kLargestRadix], out[kLargestRadix];
  std::int64_t length = n, stride = 1;
  for (std::int64_t radix : radices) {
    std::int64_t m = length / radix, step = n / length;
    for (std::int64_t q = 0; q < m; ++q)
      for (std::int64_t r = 0; r < stride; ++r) {
        for (std::int64_t j = 0; j < radix; ++j) in[j] = x[static_cast<std::size_t>(r + stride * (q + m * j))];
        butterfly(in, radix, roots.data(), n / radix, out);
        spare[static_cast<std::size_t>(r + stride * radix * q)] = out[0];
        for (std::int64_t k = 1; k < radix; ++k)
          spare[static_cast<std::size_t>(r + stride * (radix * q + k))] = q == 0 ? out[k] : times(out[k], roots[static_cast<std::size_t>(q * k * step)]);
      }
    std::swap(x, spare);
    length = m;
    stride *= radix;
  }
}

void Plan::bluestein(Signal& x) const {
  Signal z(filter.size()), spare;
  for (std::size_t k = 0; k < x.size(); ++k) z[k] = times(x[k], chirp[k]);
  inner->run(z, spare);
  for (std::size_t k = 0; k < z.size(); ++k) z[k] = std::conj(times(z[k], filter[k]));
  inner->run(z, spare);
  double scale = 1.0 / static_cast<double>(z.size());  // a power of two
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = times(std::conj(z[k]) * scale, chirp[k]);
}

void Plan::run(Signal& x, Signal& spare) const {
  if (n <= 1) return;
  if (inner)
    bluestein(x);
  else
    mixed_radix(x, spare);
}

/// The plans used last, up to some size in all. They hold nothing of any input.
std::shared_ptr<const Plan> plan_of(std::int64_t n) {
  constexpr std::int64_t kKept = 1 << 20;
  static std::mutex mutex;
  static std::list<std::shared_ptr<const Plan>> plans;
  {
    std::lock_guard lock(mutex);
    for (auto it = plans.begin(); it != plans.end(); ++it)
      if ((*it)->n == n) {
        plans.splice(plans.begin(), plans, it);
        return plans.front();
      }
  }
  auto made = std::make_shared<const Plan>(n);
  std::lock_guard lock(mutex);
  plans.push_front(made);
  std::int64_t kept = 0;
  for (auto it = plans.begin(); it != plans.end();) {
    kept += (*it)->cost();
    it = kept > kKept && it != plans.begin() ? plans.erase(it) : std::next(it);
  }
  return made;
}

enum Kind { kForward, kInverse, kRealForward, kRealInverse };

struct Params {
  std::int64_t kind, wide, rank, lengths[3];
};

/// One transform of three dimensions (the first ones may be 1), with scratch for its lines.
class Transform {
 public:
  explicit Transform(const Params& p) : p_(p), data_(static_cast<std::size_t>(count())) {}

  template <class T>
  void run(const T* in, T* out) {
    read(in);
    if (inverse())
      for (Complex& z : data_) z = {z.imag(), z.real()};  // turns the transform into its inverse, and back below
    for (int d = 2; d >= 0; --d)
      if (p_.lengths[d] > 1) lines(d);
    if (inverse()) {
      double n = static_cast<double>(count());
      for (Complex& z : data_) z = {z.imag() / n, z.real() / n};
    }
    write(out);
  }

  std::int64_t count() const { return p_.lengths[0] * p_.lengths[1] * p_.lengths[2]; }
  std::int64_t rows() const { return p_.lengths[0] * p_.lengths[1]; }
  /// Of the complex side of a transform with a real one, in the last dimension.
  std::int64_t half() const { return p_.lengths[2] == 0 ? 0 : p_.lengths[2] / 2 + 1; }
  /// Numbers (two for a complex one) on each side.
  std::int64_t in_numbers() const { return p_.kind == kRealForward ? count() : p_.kind == kRealInverse ? 2 * rows() * half() : 2 * count(); }
  std::int64_t out_numbers() const { return p_.kind == kRealInverse ? count() : p_.kind == kRealForward ? 2 * rows() * half() : 2 * count(); }

 private:
  bool inverse() const { return p_.kind == kInverse || p_.kind == kRealInverse; }

  template <class T>
  void read(const T* in) {
    if (p_.kind == kRealInverse) return read_half(in);
    for (std::int64_t i = 0; i < count(); ++i)
      data_[static_cast<std::size_t>(i)] = p_.kind == kRealForward ? Complex(in[i], 0) : Complex(in[2 * i], in[2 * i + 1]);
  }
  /// The other half of the spectrum of real numbers: conjugates, mirrored in every dimension.
  template <class T>
  void read_half(const T* in) {
    std::int64_t a = p_.lengths[0], b = p_.lengths[1], n = p_.lengths[2], h = half();
    for (std::int64_t i = 0; i < a; ++i)
      for (std::int64_t j = 0; j < b; ++j)
        for (std::int64_t k = 0; k < n; ++k) {
          bool mirrored = k >= h;
          std::int64_t row = mirrored ? (a - i) % a * b + (b - j) % b : i * b + j;
          const T* from = in + 2 * (row * h + (mirrored ? n - k : k));
          data_[static_cast<std::size_t>((i * b + j) * n + k)] = Complex(from[0], mirrored ? -from[1] : from[1]);
        }
  }
  template <class T>
  void write(T* out) const {
    std::int64_t n = p_.lengths[2], kept = p_.kind == kRealForward ? half() : n;
    for (std::int64_t row = 0; row < rows(); ++row)
      for (std::int64_t k = 0; k < kept; ++k) {
        Complex z = data_[static_cast<std::size_t>(row * n + k)];
        *out++ = static_cast<T>(z.real());
        if (p_.kind != kRealInverse) *out++ = static_cast<T>(z.imag());
      }
  }

  /// All lines along one dimension.
  void lines(int d) {
    std::int64_t n = p_.lengths[d], stride = 1;
    for (int e = d + 1; e < 3; ++e) stride *= p_.lengths[e];
    std::shared_ptr<const Plan> plan = plan_of(n);
    line_.resize(static_cast<std::size_t>(n));
    for (std::int64_t first = 0; first < count(); first += n * stride)
      for (std::int64_t offset = 0; offset < stride; ++offset) {
        Complex* at = data_.data() + first + offset;
        for (std::int64_t k = 0; k < n; ++k) line_[static_cast<std::size_t>(k)] = at[k * stride];
        plan->run(line_, spare_);
        for (std::int64_t k = 0; k < n; ++k) at[k * stride] = line_[static_cast<std::size_t>(k)];
      }
  }

  Params p_;
  Signal data_, line_, spare_;
};

template <class T>
void transforms(void* const* buffers, const Params& p, std::int64_t begin, std::int64_t end) {
  Transform transform(p);
  for (std::int64_t i = begin; i < end; ++i)
    transform.run(static_cast<const T*>(buffers[0]) + i * transform.in_numbers(), static_cast<T*>(buffers[1]) + i * transform.out_numbers());
}

}  // namespace

extern "C" void strata_fft(void* const* buffers, std::int64_t begin, std::int64_t end) {
  const Params& p = *static_cast<const Params*>(buffers[2]);
  if (p.wide)
    transforms<double>(buffers, p, begin, end);
  else
    transforms<float>(buffers, p, begin, end);
}
