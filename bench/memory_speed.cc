// What this machine's memory gives plain C++ loops on all threads: bytes a second of a copy (read
// and written) and of a read.
//
//   memory-speed [RUNS]    arrays of 64 MB in huge pages, each thread its part; medians as JSON
//
// The copy is the faster one of plain stores and of stores past the caches.
#include <immintrin.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "strata/base/thread_pool.h"

namespace {

constexpr std::size_t kBytes = std::size_t{64} << 20, kParts = 64,
                      kPart = kBytes / sizeof(float) / kParts;

float* array() {
  void* p = std::aligned_alloc(std::size_t{2} << 20, kBytes);
  if (p == nullptr) std::exit(4);
  madvise(p, kBytes, MADV_HUGEPAGE);
  std::fill_n(static_cast<float*>(p), kBytes / sizeof(float), 1.0f);
  return static_cast<float*>(p);
}

/// The median of `runs` after as many that are not counted, in seconds; `part` does one of kParts.
double seconds(int runs, std::function<void(std::size_t)> part) {
  std::vector<double> out;
  for (int i = 0; i < 2 * runs; ++i) {
    auto begin = std::chrono::steady_clock::now();
    strata::parallel_for(
        kParts, 1,
        [](void* f, std::int64_t p, std::int64_t) {
          (*static_cast<std::function<void(std::size_t)>*>(f))(static_cast<std::size_t>(p));
        },
        &part);
    out.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(out.begin() + runs, out.begin() + runs + runs / 2, out.end());
  return out[static_cast<std::size_t>(runs + runs / 2)];
}

}  // namespace

// Of each loop below: nothing else may be compiled for AVX2 here.
#define STRATA_AVX2 __attribute__((target("avx2")))

int main(int argc, char** argv) {
  int runs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 20;
  float *x = array(), *y = array(), *sums = array();
  double plain = seconds(runs, [&](std::size_t part) STRATA_AVX2 {
    for (std::size_t i = part * kPart; i < (part + 1) * kPart; i += 8)
      _mm256_store_ps(y + i, _mm256_load_ps(x + i));
  });
  double streamed = seconds(runs, [&](std::size_t part) STRATA_AVX2 {
    for (std::size_t i = part * kPart; i < (part + 1) * kPart; i += 8)
      _mm256_stream_ps(y + i, _mm256_load_ps(x + i));
    _mm_sfence();
  });
  double read = seconds(runs, [&](std::size_t part) STRATA_AVX2 {
    __m256 s[8] = {};
    for (std::size_t i = part * kPart; i < (part + 1) * kPart; i += 64)
      for (std::size_t k = 0; k < 8; ++k) s[k] = _mm256_add_ps(s[k], _mm256_load_ps(x + i + 8 * k));
    for (std::size_t k = 1; k < 8; ++k) s[0] = _mm256_add_ps(s[0], s[k]);
    _mm256_store_ps(sums + part * 1024, s[0]);
  });
  std::printf("{\"copy\": %.4g, \"streamed\": %.4g, \"read\": %.4g}\n",
              2 * kBytes / std::min(plain, streamed), 2 * kBytes / streamed, kBytes / read);
}
