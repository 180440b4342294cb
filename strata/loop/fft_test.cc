// fft against the definition in extended precision, and every instruction set against the portable
// one, bit for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "strata/base/thread_pool.h"
#include "strata/loop/kernel/fft/fft_run.h"

namespace strata::loop::fft {
namespace {

using Exact = std::complex<long double>;

struct Shape {
  std::int64_t a, b, n;
  std::int64_t size() const { return a * b * n; }
  std::int64_t half() const { return a * b * (n / 2 + 1); }
};

std::int64_t numbers(std::int64_t kind, Shape s, bool out) {
  if (kind != kRealForward && kind != kRealInverse) return 2 * s.size();
  return (kind == kRealForward) == out ? 2 * s.half() : s.size();
}

template <class T>
std::vector<T> random_numbers(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> out;
  for (std::int64_t i = 0; i < n; ++i)
    out.push_back(static_cast<T>(std::ldexp(static_cast<double>(random()), -31) - 1));
  return out;
}

/// `count` transforms, in calls of `together` grid points.
template <class T>
std::vector<T> transformed(const InstructionSet& set, std::int64_t kind, Shape s,
                           const std::vector<T>& in, std::int64_t count, std::int64_t together = 1,
                           std::int64_t points = 1) {
  std::vector<T> out(static_cast<std::size_t>(count * numbers(kind, s, true)), T{-7});
  std::int64_t params[] = {kind, sizeof(T) == 8, 3, s.a, s.b, s.n, count, together},
               grid = (count + together - 1) / together;
  void* buffers[] = {const_cast<T*>(in.data()), out.data(), params};
  for (std::int64_t i = 0; i < grid; i += points)
    run_grid(set, buffers, i, std::min(i + points, grid));
  return out;
}

/// What a transform reads, as complex numbers of the real side's shape.
std::vector<Exact> read(std::int64_t kind, Shape s, const std::vector<double>& in) {
  std::vector<Exact> x;
  auto pair = [&](std::int64_t i) {
    return Exact(in[static_cast<std::size_t>(2 * i)], in[static_cast<std::size_t>(2 * i + 1)]);
  };
  for (std::int64_t i = 0; i < s.a; ++i)
    for (std::int64_t j = 0; j < s.b; ++j)
      for (std::int64_t k = 0; k < s.n; ++k) {
        std::int64_t h = s.n / 2 + 1, at = (i * s.b + j) * s.n + k;
        if (kind == kRealForward)
          x.emplace_back(in[static_cast<std::size_t>(at)]);
        else if (kind != kRealInverse)
          x.push_back(pair(at));
        else
          x.push_back(
              k < h ? pair((i * s.b + j) * h + k)
                    : std::conj(pair(((s.a - i) % s.a * s.b + (s.b - j) % s.b) * h + s.n - k)));
      }
  return x;
}

/// Elements by the definition.
struct Definition {
  Definition(std::int64_t kind, Shape shape, const std::vector<double>& in)
      : inverse(kind == kInverse || kind == kRealInverse),
        s(shape),
        x(read(kind, shape, in)),
        u(roots(s.a)),
        v(roots(s.b)),
        w(roots(s.n)) {}

  std::vector<Exact> roots(std::int64_t n) const {
    std::vector<Exact> out;
    for (std::int64_t t = 0; t < n; ++t)
      out.push_back(
          std::polar(1.0L, (inverse ? 2 : -2) * std::acos(-1.0L) * static_cast<long double>(t) /
                               static_cast<long double>(n)));
    return out;
  }
  Exact element(std::int64_t p, std::int64_t q, std::int64_t r) const {
    Exact sum = 0;
    for (std::int64_t i = 0, at = 0; i < s.a; ++i)
      for (std::int64_t j = 0; j < s.b; ++j) {
        Exact line = 0;
        for (std::int64_t k = 0; k < s.n; ++k)
          line += x[static_cast<std::size_t>(at++)] * w[static_cast<std::size_t>(k * r % s.n)];
        sum += line * u[static_cast<std::size_t>(i * p % s.a)] *
               v[static_cast<std::size_t>(j * q % s.b)];
      }
    return inverse ? sum / static_cast<long double>(s.size()) : sum;
  }

  bool inverse;
  Shape s;
  std::vector<Exact> x, u, v, w;
};

/// The largest error of some elements, the last of each dimension among them, over the root of the
/// mean square: in what one rounding changes at most.
template <class T>
double error(std::int64_t kind, Shape s) {
  const std::vector<T> in =
      random_numbers<T>(numbers(kind, s, false), static_cast<unsigned>(s.size()));
  const std::vector<T> out = transformed(instruction_set(), kind, s, in, 1);
  Definition definition(kind, s, std::vector<double>(in.begin(), in.end()));
  long double worst = 0, squares = 0;
  for (T v : out) squares += static_cast<long double>(v) * v;
  squares /= static_cast<long double>(out.size()) / (kind == kRealInverse ? 1 : 2);
  std::int64_t last = kind == kRealForward ? s.n / 2 + 1 : s.n,
               step = std::max<std::int64_t>(1, s.size() * s.size() / 1000000);
  for (std::int64_t at = s.a * s.b * last - 1; at >= 0; at -= step) {
    Exact want = definition.element(at / last / s.b, at / last % s.b, at % last);
    auto i = static_cast<std::size_t>(at);
    Exact got =
        kind == kRealInverse ? Exact(out[i], want.imag()) : Exact(out[2 * i], out[2 * i + 1]);
    worst = std::max(worst, std::abs(got - want));
  }
  return static_cast<double>(2 * worst / std::sqrt(squares) /
                             static_cast<long double>(std::numeric_limits<T>::epsilon()));
}

void expect_exact(std::int64_t kind, Shape s) {
  EXPECT_LT(error<double>(kind, s), 16) << s.a << " x " << s.b << " x " << s.n << " kind " << kind;
  EXPECT_LT(error<float>(kind, s), 16)
      << s.a << " x " << s.b << " x " << s.n << " kind " << kind << ", f32";
}

constexpr std::int64_t kKinds[] = {kForward, kInverse, kRealForward, kRealInverse};

TEST(fft_kernel, of_any_length_is_the_definition) {
  for (std::int64_t n = 1; n <= 140; ++n)
    for (std::int64_t kind : kKinds) expect_exact(kind, {1, 1, n});
}

TEST(fft_kernel, of_long_lines_is_the_definition) {
  for (std::int64_t n :
       {183,  201,  243,  256,  257,  341,  512,  625,   720,   961,   1000,  1009,
        1024, 2048, 2310, 4096, 4099, 6561, 8192, 10000, 16384, 19683, 40320, 65536})
    for (std::int64_t kind : kKinds) expect_exact(kind, {1, 1, n});
}

TEST(fft_kernel, of_several_dimensions_is_the_definition) {
  for (Shape s : {Shape{1, 2, 1},
                  {1, 8, 8},
                  {1, 7, 16},
                  {1, 16, 7},
                  {1, 37, 6},
                  {2, 3, 4},
                  {5, 1, 9},
                  {3, 5, 10},
                  {4, 9, 2},
                  {1, 24, 40},
                  {1, 96, 3},
                  {2, 67, 5},
                  {11, 4, 13},
                  {8, 8, 64},
                  {1, 2100, 2}})
    for (std::int64_t kind : kKinds) expect_exact(kind, s);
}

template <class T>
void expect_equal_bits(std::int64_t kind, Shape s, std::int64_t count) {
  std::vector<T> in = random_numbers<T>(count * numbers(kind, s, false), 9),
                 want = transformed(kPortable, kind, s, in, count);
  for (const InstructionSet* set : {&kPortable, &kAvx2, &kAvx512}) {
    if (!set->present()) continue;
    for (auto [together, points] : {std::pair{1, 1}, {8, 1}, {4, 3}, {1000, 1}}) {
      std::vector<T> out = transformed(*set, kind, s, in, count, together, points);
      EXPECT_EQ(std::memcmp(out.data(), want.data(), out.size() * sizeof(T)), 0)
          << set->name << ", kind " << kind << ", " << s.a << " x " << s.b << " x " << s.n << ", "
          << together << " transforms a point";
    }
  }
}

TEST(fft_kernel, bits_depend_neither_on_the_instruction_set_nor_on_the_cut) {
  for (std::int64_t kind : kKinds) {
    for (std::int64_t n :
         {1,  2,  3,   4,   5,   8,   12,  15,  30,  31,  49,  59,  61,  63,  64,   66,   67,
          74, 77, 100, 124, 118, 125, 128, 130, 134, 197, 210, 256, 512, 961, 1000, 1009, 4096}) {
      expect_equal_bits<float>(kind, {1, 1, n}, 11);
      expect_equal_bits<double>(kind, {1, 1, n}, 11);
    }
    for (Shape s :
         {Shape{1, 6, 5}, {3, 4, 10}, {1, 64, 66}, {1, 37, 7}, {5, 1, 100}, {1, 2100, 2}}) {
      expect_equal_bits<float>(kind, s, 3);
      expect_equal_bits<double>(kind, s, 3);
    }
  }
}

template <class T>
void expect_steps_give_the_same(Shape s) {
  for (std::int64_t kind : {kForward, kInverse, kRealForward, kRealInverse})
    for (const InstructionSet* set : {&kPortable, &kAvx2, &kAvx512}) {
      if (!set->present()) continue;
      const auto in = random_numbers<T>(2 * numbers(kind, s, false), 5);
      auto want = transformed<T>(*set, kind, s, in, 2, 2);  // two go one after the other
      want.resize(static_cast<std::size_t>(numbers(kind, s, true)));
      for (int threads : {1, 3}) {
        set_num_threads(threads);
        const auto got = transformed<T>(*set, kind, s, in, 1);
        EXPECT_EQ(std::memcmp(got.data(), want.data(), want.size() * sizeof(T)), 0)
            << set->name << " kind " << kind << ": " << s.a << " " << s.b << " " << s.n << ", "
            << threads << " threads";
      }
    }
  set_num_threads(0);
}

/// One large transform of several dimensions goes step by step, on all threads.
TEST(fft_kernel, steps_give_the_bits_of_a_transform_at_once) {
  for (Shape s : {Shape{1, 256, 130},
                  {32, 33, 40},
                  {200, 1, 171},
                  {2, 3, 8192},
                  {1, 1021, 36},
                  {40, 1, 1021}}) {
    expect_steps_give_the_same<float>(s);
    expect_steps_give_the_same<double>(s);
  }
}

/// Large ones go past the caches, where results begin on a cache line.
TEST(fft_kernel, large_ones_give_the_same_bits_wherever_they_are_written) {
  for (Shape s : {Shape{1, 1040, 1030}, {136, 128, 128}, {17, 1, 131072}, {3, 900, 800}})
    for (std::int64_t kind : {kForward, kInverse}) {
      const auto in = random_numbers<float>(numbers(kind, s, false), 5);
      const auto size = static_cast<std::size_t>(numbers(kind, s, true));
      std::vector<float> room(size + 32), want;
      for (const InstructionSet* set : {&kPortable, &kAvx2, &kAvx512}) {
        if (!set->present()) continue;
        for (std::size_t off : {0, 2}) {
          float* out = reinterpret_cast<float*>(
                           (reinterpret_cast<std::uintptr_t>(room.data()) + 63) / 64 * 64) +
                       off;
          std::int64_t params[] = {kind, 0, 3, s.a, s.b, s.n, 1, 1};
          void* buffers[] = {const_cast<float*>(in.data()), out, params};
          run_grid(*set, buffers, 0, 1);
          if (want.empty()) want.assign(out, out + size);
          EXPECT_EQ(std::memcmp(out, want.data(), size * sizeof(float)), 0)
              << set->name << " kind " << kind << ": " << s.a << " " << s.b << " " << s.n;
        }
      }
    }
}

TEST(fft_kernel, of_nothing_does_nothing) {
  std::int64_t params[] = {kRealForward, 1, 1, 1, 1, 0, 0, 1};
  void* buffers[] = {nullptr, nullptr, params};
  run_grid(instruction_set(), buffers, 0, 0);
}

TEST(fft_kernel, of_infinities_stays_what_the_definition_says) {
  double infinity = HUGE_VAL;
  std::vector<double> one =
      transformed<double>(instruction_set(), kInverse, {1, 1, 1}, {infinity, 1.0}, 1);
  EXPECT_EQ(one[0], infinity);
  EXPECT_EQ(one[1], 1);
  std::vector<double> two =
      transformed<double>(instruction_set(), kInverse, {1, 1, 2}, {infinity, 0.0, 1.0, 0.0}, 1);
  EXPECT_EQ(two[0], infinity);
}

}  // namespace
}  // namespace strata::loop::fft
