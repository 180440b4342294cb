#include "strata/compile/plan/machine_peaks.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>

#include "strata/base/thread_pool.h"
#include "strata/compile/llvm/compile_kernels.h"
#include "strata/loop/tiles.h"
#include "strata/runtime/allocator.h"

namespace strata::compile {
namespace {

using loop::Builder;
using loop::Index;
using loop::Inst;
using loop::Kernel;
using loop::Ref;

constexpr std::int64_t kParts = 64;
constexpr int kSums = 12, kTurns = 2000;

/// The shortest of several runs of `parts` parts, in seconds.
double shortest(std::int64_t parts, bool parallel,
                const std::function<void(std::int64_t, std::int64_t)>& part) {
  auto call = [](void* f, std::int64_t begin, std::int64_t end) {
    (*static_cast<const std::function<void(std::int64_t, std::int64_t)>*>(f))(begin, end);
  };
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 7; ++i) {
    auto began = std::chrono::steady_clock::now();
    if (parallel)
      parallel_for(parts, 1, call,
                   const_cast<std::function<void(std::int64_t, std::int64_t)>*>(&part));
    else
      part(0, parts);
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  }
  return best;
}
Rate rate(double amount, std::int64_t parts,
          const std::function<void(std::int64_t, std::int64_t)>& part) {
  return {amount / shortest(parts, false, part), amount / shortest(parts, true, part)};
}

/// Sums that stay in registers, of one vector each: enough of them for the latency of a
/// multiply-add not to show.
std::unique_ptr<Kernel> sums(bool pairs, int lanes) {
  auto kernel = std::make_unique<Kernel>("peak");
  kernel->grid = kParts;
  Builder b(*kernel);
  Ref* in = b.parameter(pairs ? DType::i32 : DType::f32, lanes, Ref::Mode::in);
  Ref* out = b.parameter(DType::f32, kParts * lanes, Ref::Mode::out);
  Index part = b.grid() * lanes;
  b.vector(0, lanes, lanes, [&](Index j) {
    std::vector<Inst*> sums;
    Inst* v = b.load(in, j);
    for (int r = 0; r < kSums; ++r) sums.push_back(b.local(b.constant(DType::f32, r), lanes));
    b.for_(0, kTurns, 1, [&](Index) {
      for (Inst* s : sums) b.set(s, pairs ? b.dot2(b.get(s), v, v) : b.fma(v, v, b.get(s)));
    });
    Inst* all = b.get(sums[0]);
    for (int r = 1; r < kSums; ++r)
      all = b.binary(loop::Opcode::add, all, b.get(sums[static_cast<std::size_t>(r)]));
    b.store(out, part + j, all);
  });
  return kernel;
}

Rate lanes_a_second(bool pairs) {
  const int lanes = CpuTarget::host().avx512 ? 16 : 8;
  auto kernel = sums(pairs, lanes);
  KernelFn f = compile_kernel(*kernel);
  std::vector<float> in(static_cast<std::size_t>(lanes), 0),
      out(static_cast<std::size_t>(kParts * lanes), 0);
  void* refs[] = {in.data(), out.data()};
  return rate(static_cast<double>(kParts * kTurns) * kSums * lanes, kParts,
              [&](std::int64_t begin, std::int64_t end) { f(refs, begin, end); });
}

/// Flops of matrix tiles on blocks in the first cache.
Rate tile_flops() {
  if (!CpuTarget::host().tiles) return {};
  constexpr std::int64_t kRows = 32, kColumns = 32, kSteps = 8, kEach = 200;
  return rate(2.0 * kRows * kColumns * kSteps * 32 * kEach * kParts, kParts,
              [&](std::int64_t begin, std::int64_t end) {
                std::vector<float> c(kRows * kColumns, 0), a(kRows * kSteps * 16, 0),
                    b(kColumns * kSteps * 16, 0);
                for (std::int64_t i = begin * kEach; i < end * kEach; ++i)
                  strata_tile_product(c.data(), a.data(), b.data(), kColumns, kSteps * 16, kColumns,
                                      kRows, kColumns, kSteps, 1);
              });
}

enum class Sweep { read, write, stream };

/// The sums of parts of an array, or all of it set.
std::unique_ptr<Kernel> sweep(std::int64_t elements, Sweep kind) {
  auto kernel = std::make_unique<Kernel>("sweep");
  kernel->grid = kParts;
  Builder b(*kernel);
  const std::int64_t each = elements / kParts;
  const bool reads = kind == Sweep::read;
  Ref* array = b.parameter(DType::f32, elements, reads ? Ref::Mode::in : Ref::Mode::out);
  Ref* sums = b.parameter(DType::f32, kParts * 64, Ref::Mode::out);
  Index part = b.grid();
  Inst* sum = b.local(b.constant(DType::f32, 0), 64);
  b.vector(0, each, 64, [&](Index i) {
    if (reads)
      b.set(sum, b.binary(loop::Opcode::add, b.get(sum), b.load(array, part * each + i)));
    else
      b.store(array, part * each + i, b.get(sum));
  });
  b.vector(0, 64, 64, [&](Index i) { b.store(sums, part * 64 + i, b.get(sum)); });
  for (Inst& inst : kernel->arena)
    inst.streaming = kind == Sweep::stream && inst.code == loop::Opcode::store && inst.ref == array;
  return kernel;
}

Rate sweep_rate(std::int64_t elements, Sweep kind, float* array) {
  KernelFn f = compile_kernel(*sweep(elements, kind));
  std::vector<float> sums(kParts * 64);
  void* refs[] = {array, sums.data()};
  const std::int64_t times = std::max<std::int64_t>(
      1, (std::int64_t{1} << 21) / elements);  // small ones often enough for the clock
  return rate(4.0 * static_cast<double>(elements * times), kParts,
              [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i = 0; i < times; ++i) f(refs, begin, end);
              });
}

Rate faster(Rate a, Rate b) { return {std::max(a.one, b.one), std::max(a.all, b.all)}; }

MachinePeaks::Traffic traffic(std::int64_t bytes, float* array) {
  const std::int64_t elements = bytes / 4;
  return {static_cast<double>(bytes), sweep_rate(elements, Sweep::read, array),
          faster(sweep_rate(elements, Sweep::write, array),
                 sweep_rate(elements, Sweep::stream, array))};
}

}  // namespace

MachinePeaks measure_peaks() {
  MachinePeaks peaks{.threads = num_threads(),
                     .slots = lanes_a_second(false),
                     .pairs = lanes_a_second(true),
                     .tiles = tile_flops()};
  constexpr std::int64_t kMost = std::int64_t{128} << 20;
  auto memory = runtime::allocate(kMost);
  auto* array = reinterpret_cast<float*>(memory.get());
  std::fill_n(array, kMost / 4, 1.0f);
  for (std::int64_t bytes : {std::int64_t{256} << 10, std::int64_t{8} << 20, kMost})
    peaks.traffic.push_back(traffic(bytes, array));
  constexpr int kCalls = 1000;
  auto nothing = [](void*, std::int64_t, std::int64_t) {};
  double clock = shortest(kCalls, false, [](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = 2 * begin; i < 2 * end; ++i) (void)std::chrono::steady_clock::now();
  });
  double calls = shortest(kCalls, false, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) parallel_for(num_threads(), 1, nothing, nullptr);
  });
  peaks.call = {kCalls / clock, kCalls / (clock + calls)};
  return peaks;
}

}  // namespace strata::compile
