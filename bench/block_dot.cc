// Products with matrices in packed blocks, as decoding does them: a row of x, 4096 inputs, a matrix
// that no cache holds; and 512 rows at once, as reading a prompt does.
//
//   block-dot [MEGABYTES]    a line for each format: GB/s of packed bytes read by one row, GFLOP/s
//   of
//                            512 rows, by each instruction set; all threads
//
// What the memory gives: memory-speed ("read").
#include "strata/loop/kernel/block/block_dot.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "strata/base/thread_pool.h"
#include "strata/loop/kernel/block/block_int8.h"

namespace {

using namespace strata;

constexpr std::int64_t kIn = 4096, kChunk = 48;

/// The least seconds of `runs` products.
template <class InstructionSet>
double seconds(const InstructionSet& set, BlockFormat f, std::int64_t rows, std::int64_t out,
               const std::vector<std::uint8_t>& w, int runs) {
  std::vector<float> x(static_cast<std::size_t>(rows * kIn), 0.5f),
      y(static_cast<std::size_t>(rows * out));
  std::int64_t params[] = {
      static_cast<std::int64_t>(f.kind()), 1, rows, out, kIn / f.elements(), kChunk};
  struct Call {
    const InstructionSet* set;
    void* buffers[4];
  } call{&set, {x.data(), const_cast<std::uint8_t*>(w.data()), y.data(), params}};
  double best = 1e9;
  for (int i = 0; i < runs; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    parallel_for((out + kChunk - 1) / kChunk, 4,
                 [](void* c, std::int64_t first, std::int64_t last) {
                   auto* call = static_cast<Call*>(c);
                   run(*call->set, call->buffers, first, last);
                 },
                 &call);
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t bytes = (argc > 1 ? std::atoll(argv[1]) : 256) << 20;
  for (const BlockLayout& layout : kBlockLayouts) {
    const BlockFormat f = layout.kind;
    const std::int64_t out = bytes / f.row_bytes(kIn);
    std::vector<std::uint8_t> w(static_cast<std::size_t>(out * f.row_bytes(kIn)));
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<std::uint8_t>(i * 37 & 0x3b);
    std::printf("%-7s", f.name());
    auto say = [&](const char* kind, const auto* set) {
      if (!set->present()) return;
      const double one = seconds(*set, f, 1, out, w, 7), many = seconds(*set, f, 512, 1536, w, 3);
      std::printf("  %s %s %6.2f GB/s %7.1f GFLOP/s", kind, set->name,
                  static_cast<double>(w.size()) / one / 1e9, 2.0 * 512 * 1536 * kIn / many / 1e9);
    };
    say("f32", &loop::block::kAvx2), say("f32", &loop::block::kAvx512);
    say("int8", &loop::block8::kAvx2), say("int8", &loop::block8::kVnni);
    std::printf("\n");
  }
}
