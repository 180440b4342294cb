// ulp: how far the elementary functions are from the truth, as the table of docs/ulp.md.
//
//   ulp                      every 4099th float for each function of f32, 20000 samples of f64, and
//   pairs for those of two ulp --exhaustive         all 2^32 floats, and 10^9 pairs ulp --only exp
//   --stride 97 --threads 1 ulp --no-f64             f32 alone ulp --exhaustive --no-f64 --page
//   docs/ulp.md      writes what was measured of f32 into the page's rows
//
// A row per function: the largest error in units of the last place and where. What is measured of
// f32 is machine code, in vectors, which has the bits of the scalar forms
// (compile/llvm/emit/elementary_test.cc). A function of f64 finds what may be the worst so far, or
// of the wrong kind (NaN, infinity, sign of zero): the C library's, within 4 ulp of f64, or ours,
// within 3, so that what it passes over is below the worst by no more than 2^-26 ulp of f32. MPFR
// decides on what was found, and on all that lies where f64 itself is not to be trusted. The truth
// of f64 is MPFR's. Results of the wrong kind are counted, and any of them, or an error above the
// bound of math.h, ends in exit status 1.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "strata/base/command_line.h"
#include "strata/base/thread_pool.h"
#include "strata/compile/llvm/compile_kernels.h"
#include "strata/loop/math/math.h"
#include "strata/loop/testing/truth.h"

#if defined(__x86_64__)
#define STRATA_WIDE \
  __attribute__((target("avx2,fma"), optimize("O3", "no-math-errno", "no-trapping-math")))
#else
#define STRATA_WIDE __attribute__((optimize("O3", "no-math-errno", "no-trapping-math")))
#endif
// The C library's functions of vectors, where it has them.
#if defined(__x86_64__) && defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 35)
#define STRATA_SIMD __attribute__((simd("notinbranch"), const, nothrow))
#else
#define STRATA_SIMD
#endif
#define STRATA_UNARY(name) extern "C" double name(double) STRATA_SIMD;
STRATA_UNARY(exp)
STRATA_UNARY(exp2)
STRATA_UNARY(expm1)
STRATA_UNARY(log)
STRATA_UNARY(log2)
STRATA_UNARY(log1p)
STRATA_UNARY(sin)
STRATA_UNARY(cos)
STRATA_UNARY(tan)
STRATA_UNARY(tanh)
STRATA_UNARY(cbrt)
STRATA_UNARY(erf)
STRATA_UNARY(erfc)
STRATA_UNARY(asin)
STRATA_UNARY(acos)
STRATA_UNARY(atan)
STRATA_UNARY(sinh)
STRATA_UNARY(cosh)
STRATA_UNARY(asinh)
STRATA_UNARY(acosh)
STRATA_UNARY(atanh)
#undef STRATA_UNARY
extern "C" double pow(double, double) STRATA_SIMD;
extern "C" double atan2(double, double) STRATA_SIMD;

namespace {
namespace compile = strata::compile;
namespace loop = strata::loop;
namespace math = strata::loop::math;
namespace testing = strata::loop::testing;

struct Worst {
  double ulp = 0, x = 0, y = 0;
  std::uint64_t wrong = 0;
  void add(const Worst& other) {
    std::uint64_t sum = wrong + other.wrong;
    if (other.ulp > ulp || (other.wrong && !wrong)) *this = other;
    wrong = sum;
  }
};

constexpr std::int64_t kBlock = 1 << 12;

/// Blocks of arguments, results and truths.
struct Block {
  alignas(64) float x[kBlock], y[kBlock], got[kBlock];
  alignas(64) double truth[kBlock];
};

/// Fills in the truth as far as f64 knows it.
using Wide = void (*)(Block& block);

#define STRATA_WIDE_OF(name, ...)               \
  STRATA_WIDE void name##_wide(Block& block) {  \
    for (std::int64_t i = 0; i < kBlock; ++i) { \
      double x = block.x[i], y = block.y[i];    \
      (void)y;                                  \
      block.truth[i] = __VA_ARGS__;             \
    }                                           \
  }
#define STRATA_UNARY(name) STRATA_WIDE_OF(name, ::name(x))
STRATA_UNARY(log)
STRATA_UNARY(log2)
STRATA_UNARY(log1p)
STRATA_UNARY(sin)
STRATA_UNARY(cos)
STRATA_UNARY(tan)
STRATA_UNARY(tanh)
STRATA_UNARY(cbrt)
STRATA_UNARY(erf)
STRATA_UNARY(erfc)
STRATA_UNARY(asin)
STRATA_UNARY(acos)
STRATA_UNARY(atan)
STRATA_UNARY(asinh)
STRATA_UNARY(acosh)
STRATA_UNARY(atanh)
STRATA_UNARY(sqrt)
#undef STRATA_UNARY
// Beyond 300 results are 0, -1 or infinite as floats; as doubles they would leave the library's
// fast path.
inline double moderate(double x) { return std::min(std::max(x, -300.0), 300.0); }
STRATA_WIDE_OF(exp, ::exp(moderate(x)))
STRATA_WIDE_OF(exp2, ::exp2(moderate(x)))
STRATA_WIDE_OF(expm1, ::expm1(moderate(x)))
STRATA_WIDE_OF(sinh, ::sinh(moderate(x)))
STRATA_WIDE_OF(cosh, ::cosh(moderate(x)))
STRATA_WIDE_OF(logistic, 1 / (1 + ::exp(-moderate(x))))
STRATA_WIDE_OF(rsqrt, 1 / ::sqrt(x))
STRATA_WIDE_OF(pow, ::pow(x, y))
STRATA_WIDE_OF(atan2, ::atan2(x, y))
void lgamma_wide(Block& block) {
  int sign;
  for (std::int64_t i = 0; i < kBlock; ++i) block.truth[i] = lgamma_r(block.x[i], &sign);
}

Wide library(std::string_view name) {
#define STRATA_ROW(name) {#name, name##_wide},
  static const std::map<std::string_view, Wide> known = {
      STRATA_ROW(exp) STRATA_ROW(exp2) STRATA_ROW(expm1) STRATA_ROW(log) STRATA_ROW(log2)
          STRATA_ROW(log1p) STRATA_ROW(sin) STRATA_ROW(cos) STRATA_ROW(tan) STRATA_ROW(tanh)
              STRATA_ROW(cbrt) STRATA_ROW(erf) STRATA_ROW(erfc) STRATA_ROW(asin) STRATA_ROW(acos)
                  STRATA_ROW(atan) STRATA_ROW(sinh) STRATA_ROW(cosh) STRATA_ROW(asinh)
                      STRATA_ROW(acosh) STRATA_ROW(atanh) STRATA_ROW(sqrt) STRATA_ROW(logistic)
                          STRATA_ROW(rsqrt) STRATA_ROW(lgamma) STRATA_ROW(pow) STRATA_ROW(atan2)};
#undef STRATA_ROW
  auto found = known.find(name);
  return found == known.end() ? nullptr : found->second;
}

/// Machine code from a block's floats: the function of f32, or that of f64.
template <class Traced>
compile::KernelFn code(std::string_view name, strata::DType dtype, int count,
                       const Traced& traced) {
  loop::Kernel kernel{std::string(name)};
  loop::Builder b(kernel);
  std::vector<loop::Ref*> in;
  for (int i = 0; i < count; ++i)
    in.push_back(b.parameter(strata::DType::f32, kBlock, loop::Ref::Mode::in));
  loop::Ref* out = b.parameter(dtype, kBlock, loop::Ref::Mode::out);
  b.vector(0, kBlock, 16, [&](loop::Index i) {
    std::vector<loop::Inst*> values;
    for (loop::Ref* ref : in) values.push_back(b.convert(dtype, b.load(ref, i)));
    b.store(out, i, traced(b, values));
  });
  return compile::compile_kernel(kernel);
}

/// What is measured of one function of f32.
struct Measured {
  std::string_view name;
  int count = 1;                         // arguments
  compile::KernelFn f32, f64 = nullptr;  // f64: where the library has none
  Wide wide = nullptr;

  void run(Block& block) const {
    void* refs[] = {block.x, count == 1 ? block.got : block.y, block.got};
    f32(refs, 0, 1);
    if (wide) return wide(block);
    refs[count] = block.truth;
    f64(refs, 0, 1);
  }
  /// MPFR's verdict: infinity for the wrong kind.
  double error(float x, float y, float got) const {
    thread_local testing::Number in_x, in_y, truth;
    mpfr_set_d(in_x.value, x, MPFR_RNDN);
    mpfr_set_d(in_y.value, y, MPFR_RNDN);
    if (count == 1)
      testing::unary_truth(name)(truth.value, in_x.value, MPFR_RNDN);
    else
      testing::binary_truth(name)(truth.value, in_x.value, in_y.value, MPFR_RNDN);
    return testing::ulps(got, truth);
  }
};

/// Whether an element may be worse than `worst` or of the wrong kind, or lies where terms of f64
/// cancel (`cancels`: left of 0).
inline bool suspicious(float x, float got, double truth, double worst, bool cancels) {
  std::int64_t exponent =
      std::max<std::int64_t>((std::bit_cast<std::int64_t>(truth) >> 52 & 0x7ff) - 1046, -149);
  double scale = std::bit_cast<double>((1023 - exponent) << 52);  // 1 / ulp
  bool near = std::fabs(got - truth) * scale <= worst;
  bool nan = (truth != truth) & (got != got);
  bool infinite = (std::fabs(got) == HUGE_VALF) & (got == static_cast<float>(truth));
  bool sign = (std::bit_cast<std::int32_t>(got) ^
               static_cast<std::int32_t>(std::bit_cast<std::int64_t>(truth) >> 32)) >= 0;
  bool doubt = cancels & (x < 0) & (std::fabs(truth) < 0x1p-12);
  return !(nan | infinite | (near & sign)) | doubt;
}

STRATA_WIDE bool any_suspicious(const Block& block, double worst, bool cancels) {
  std::int64_t any = 0;
  for (std::int64_t i = 0; i < kBlock; ++i)
    any |= suspicious(block.x[i], block.got[i], block.truth[i], worst, cancels);
  return any;
}

void compare(const Measured& function, const Block& block, std::int64_t size, Worst& worst) {
  bool cancels =
      function.name == "digamma" || function.name == "zeta" || function.name == "polygamma";
  if (!any_suspicious(block, worst.ulp, cancels)) return;
  for (std::int64_t i = 0; i < size; ++i) {
    if (!suspicious(block.x[i], block.got[i], block.truth[i], worst.ulp, cancels)) continue;
    double error = function.error(block.x[i], block.y[i], block.got[i]);
    if (std::isinf(error)) {
      if (!worst.wrong++) worst.x = block.x[i], worst.y = block.y[i];
    } else if (error > worst.ulp) {
      worst.ulp = error;
      if (!worst.wrong) worst.x = block.x[i], worst.y = block.y[i];
    }
  }
}

int threads = 0;

/// All blocks of `count` elements, which `fill` writes; the last one is filled up with elements
/// before. What is no worse than `known`, the errors of some of them, is passed over.
template <class Fill>
Worst in_parallel(const Measured& function, std::uint64_t count, const Fill& fill,
                  Worst known = {}) {
  unsigned parts = threads ? threads : std::max(1u, std::thread::hardware_concurrency());
  known.wrong = 0;
  std::vector<Worst> worst(parts, known);
  std::vector<std::thread> running;
  for (unsigned t = 0; t < parts; ++t) {
    running.emplace_back([&, t] {
      strata::DefaultFloatEnvironment environment;
      auto block = std::make_unique<Block>();
      for (std::uint64_t begin = t * kBlock; begin < count; begin += parts * kBlock) {
        auto size = static_cast<std::int64_t>(std::min<std::uint64_t>(kBlock, count - begin));
        for (std::int64_t i = 0; i < kBlock; ++i)
          fill(begin + static_cast<std::uint64_t>(std::min(i, size - 1)), block->x[i], block->y[i]);
        function.run(*block);
        compare(function, *block, size, worst[t]);
      }
    });
  }
  for (auto& thread : running) thread.join();
  Worst all;
  for (const Worst& part : worst) all.add(part);
  return all;
}

constexpr std::uint64_t kFew = 4099;

Worst sweep(const math::UnaryFunction& function, std::uint64_t stride) {
  Measured measured{function.name, 1, nullptr, nullptr, library(function.name)};
  auto traced = [&](loop::Builder& b, const std::vector<loop::Inst*>& v) {
    return function.traced(b, v[0]);
  };
  measured.f32 = code(function.name, strata::DType::f32, 1, traced);
  if (!measured.wide) measured.f64 = code(function.name, strata::DType::f64, 1, traced);
  auto every = [&](std::uint64_t step, const Worst& known) {
    return in_parallel(
        measured, UINT32_MAX / step + 1,
        [step](std::uint64_t i, float& x, float& y) {
          x = std::bit_cast<float>(static_cast<std::uint32_t>(i * step)), y = 0;
        },
        known);
  };
  // Where errors grow from float to float MPFR would decide on each of them, so some that lie far
  // apart come first.
  return every(stride, stride < kFew ? every(kFew, {}) : Worst());
}

std::uint64_t mix(std::uint64_t z) {  // splitmix64
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Half of the pairs are any bits; half keep the exponents near 1, where results are ordinary.
/// Orders of polygamma are whole.
Worst pairs(const math::BinaryFunction& function, std::uint64_t count) {
  Measured measured{function.name, 2, nullptr, nullptr, library(function.name)};
  auto traced = [&](loop::Builder& b, const std::vector<loop::Inst*>& v) {
    return function.traced(b, v[0], v[1]);
  };
  measured.f32 = code(function.name, strata::DType::f32, 2, traced);
  if (!measured.wide) measured.f64 = code(function.name, strata::DType::f64, 2, traced);
  return in_parallel(measured, count, [&](std::uint64_t i, float& x, float& y) {
    std::uint64_t random = mix((i + 1) * 0x9e3779b97f4a7c15u);
    auto first = static_cast<std::uint32_t>(random),
         second = static_cast<std::uint32_t>(random >> 32);
    if (i & 1) {
      first = (first & 0x87ffffffu) + 0x3c000000u;
      second = (second & 0x87ffffffu) + 0x3f000000u;
    }
    x = std::bit_cast<float>(first), y = std::bit_cast<float>(second);
    if (function.name == "polygamma") x = static_cast<float>(first % 30);
  });
}

/// Of f64: any bits, magnitudes where functions live, neighbours of 1, numbers up to 12.
double draw(std::mt19937_64& random, int i) {
  auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  auto power = [&](double low, double high) {
    return std::copysign(std::exp2(uniform(low, high)), random() & 1 ? 1 : -1);
  };
  switch (i % 5) {
    case 0: return std::bit_cast<double>(random());
    case 1: return power(-30, 11);
    case 2: return power(-3, 5);
    case 3: return 1 + power(-53, -1);
    default: return uniform(-12, 12);
  }
}

void note(Worst& worst, double error, double x, double y) {
  worst.wrong += std::isinf(error);
  if (error > worst.ulp) worst.ulp = error, worst.x = x, worst.y = y;
}

Worst sampled(const math::UnaryFunction& function, int samples) {
  std::mt19937_64 random(7);
  testing::Number in, truth;
  Worst worst;
  for (int i = 0; i < samples; ++i) {
    double x = draw(random, i);
    mpfr_set_d(in.value, x, MPFR_RNDN);
    testing::unary_truth(function.name)(truth.value, in.value, MPFR_RNDN);
    note(worst, testing::ulps(function.f64(x), truth), x, 0);
  }
  return worst;
}

Worst sampled(const math::BinaryFunction& function, int samples) {
  std::mt19937_64 random(7);
  testing::Number in_x, in_y, truth;
  Worst worst;
  for (int i = 0; i < samples; ++i) {
    double x = draw(random, i), y = draw(random, static_cast<int>(random() % 5));
    if (function.name == "polygamma" || function.name == "zeta") {
      x = std::fabs(draw(random, 1 + i % 4)), y = std::fabs(draw(random, 1 + i % 3));
      if (function.name == "polygamma") x = std::min(std::floor(x), 170.0);
    }
    mpfr_set_d(in_x.value, x, MPFR_RNDN);
    mpfr_set_d(in_y.value, y, MPFR_RNDN);
    testing::binary_truth(function.name)(truth.value, in_x.value, in_y.value, MPFR_RNDN);
    note(worst, testing::ulps(function.f64(x, y), truth), x, y);
  }
  return worst;
}

/// Prints a cell; whether the function keeps its bound.
bool report(const char* type, std::string_view name, const Worst& worst, double bound,
            const std::string& how) {
  bool kept = worst.ulp <= bound && worst.wrong == 0;
  std::printf("| `%s` | %s | %.4f | %.9g, %.9g | %s |%s", std::string(name).c_str(), type,
              worst.ulp, worst.x, worst.y, how.c_str(), kept ? "\n" : "  BROKEN\n");
  if (worst.wrong) std::printf("wrong kind: %llu\n", static_cast<unsigned long long>(worst.wrong));
  std::fflush(stdout);
  return kept;
}

/// Writes the errors of f32 into the rows of the page's first table, with the date; below stand
/// those of complex functions.
void write_page(const std::string& path,
                const std::map<std::string, std::pair<double, std::string>>& errors) {
  char date[16];
  std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%F", std::gmtime(&now));
  std::ifstream in(path);
  std::string out;
  bool below = false;
  for (std::string line; std::getline(in, line);) {
    below |= line.starts_with("## ");
    auto row = !below && line.starts_with("| `")
                   ? errors.find(line.substr(3, line.find('`', 3) - 3))
                   : errors.end();
    if (row != errors.end()) {
      const auto& [error, how] = row->second;
      std::size_t rest = line.find('|', line.find('|', line.find('|', 1) + 1) + 1);
      char cells[64];
      std::snprintf(cells, sizeof cells, "%.3f | %s, %s ", error, how.c_str(), date);
      line = "| `" + row->first + "` | " + cells + line.substr(rest);
    }
    out += line + "\n";
  }
  in.close();
  std::ofstream(path) << out;
}

}  // namespace

int main(int argc, char** argv) {
  strata::CommandLine app(
      "Measures the errors of the elementary functions.\n\nExample:\n  ulp --exhaustive --no-f64 "
      "--only exp --page docs/ulp.md");
  bool exhaustive = false, no_f64 = false;
  std::uint64_t stride = 4099;
  int samples = 20000;
  std::vector<std::string> only;
  std::string page;
  std::map<std::string, std::pair<double, std::string>> errors;
  app.add_flag("--exhaustive", exhaustive, "all floats");
  app.add_flag("--no-f64", no_f64, "f32 alone");
  app.add_option("--stride", stride, "every stride-th float");
  app.add_option("--samples", samples, "how many f64 inputs");
  app.add_option("--threads", threads, "how many threads (0: all)");
  app.add_option("--only", only, "these functions");
  app.add_option("--page", page, "writes what was measured of f32 into this page's rows");
  if (auto status = app.parse(argc, argv)) return *status;
  if (exhaustive) stride = 1;
  auto wanted = [&](std::string_view name) {
    return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
  };
  std::uint64_t count = exhaustive ? 1'000'000'000 : 4'000'000'000 / stride;
  std::string how = exhaustive ? "all" : "every " + std::to_string(stride) + "th";
  bool kept = true;
  std::printf("| function | type | ulp | at | inputs |\n|---|---|---|---|---|\n");
  for (const auto& function : math::unary_functions()) {
    if (!wanted(function.name)) continue;
    Worst worst = sweep(function, stride);
    kept &= report("f32", function.name, worst,
                   function.name == "erf" || function.name == "erfc" ? 2 : 1, how);
    errors[std::string(function.name)] = {worst.ulp, how};
    if (!no_f64)
      kept &= report("f64", function.name, sampled(function, samples), 3, std::to_string(samples));
  }
  for (const auto& function : math::binary_functions()) {
    if (!wanted(function.name)) continue;
    Worst worst = pairs(function, count);
    kept &= report("f32", function.name, worst, 1, std::to_string(count));
    errors[std::string(function.name)] = {
        worst.ulp, exhaustive ? "10⁹ pairs" : std::to_string(count) + " pairs"};
    if (!no_f64)
      kept &= report("f64", function.name, sampled(function, samples / 4), 3,
                     std::to_string(samples / 4));
  }
  if (!page.empty()) write_page(page, errors);
  return kept ? 0 : 1;
}
