// How near generated kernels come to the machine's limits:
//
//   kernel-peak [asm]    one thread; with "asm" prints the inner kernels' assembly
//
// A product tile of 14 x 32 f32 (28 vectors of sums, A broadcast from a packed panel, B two vectors
// wide) and one of 12 x 32 in bf16 pairs, against the rate of independent fused multiply-adds; the
// elementary functions; and a sweep y = 2x + 1 over 16 M elements.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "strata/compile/llvm/compile_kernels.h"
#include "strata/loop/math/math.h"

namespace {

using namespace strata;
using loop::Builder;
using loop::Index;
using loop::Inst;
using loop::Kernel;
using loop::Opcode;
using loop::Ref;

double seconds_of(const std::function<void()>& f) {
  double best = 1e9;
  for (int repeat = 0; repeat < 15; ++repeat) {
    auto begin = std::chrono::steady_clock::now();
    f();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

/// C[rows][32] += A[k][rows] * B[k][32], the sums in registers; `pairs`: elements are pairs of
/// bf16.
std::unique_ptr<Kernel> product_tile(int rows, std::int64_t k, bool pairs) {
  auto kernel = std::make_unique<Kernel>("tile");
  Builder b(*kernel);
  DType element = pairs ? DType::i32 : DType::f32;
  Ref* a = b.parameter(element, rows * k, Ref::Mode::in);
  Ref* x = b.parameter(element, 32 * k, Ref::Mode::in);
  Ref* c = b.parameter(DType::f32, rows * 32, Ref::Mode::inout);
  b.vector(0, 32, 32, [&](Index j) {
    std::vector<Inst*> sums;
    for (int r = 0; r < rows; ++r) sums.push_back(b.local(b.load(c, j + r * 32), 32));
    b.for_(0, k, 1, [&](Index p) {
      Inst* row = b.load(x, p * 32 + j);
      for (int r = 0; r < rows; ++r) {
        Inst* one = b.load(a, p * rows + r);
        Inst* sum = b.get(sums[static_cast<std::size_t>(r)]);
        b.set(sums[static_cast<std::size_t>(r)],
              pairs ? b.dot2(sum, one, row) : b.fma(one, row, sum));
      }
    });
    for (int r = 0; r < rows; ++r) b.store(c, j + r * 32, b.get(sums[static_cast<std::size_t>(r)]));
  });
  return kernel;
}

/// 24 vectors of sums that never touch memory.
std::unique_ptr<Kernel> peak(bool pairs) {
  auto kernel = std::make_unique<Kernel>("peak");
  Builder b(*kernel);
  Ref* in = b.parameter(pairs ? DType::i32 : DType::f32, 16, Ref::Mode::in);
  Ref* out = b.parameter(DType::f32, 16 * 24, Ref::Mode::inout);
  b.vector(0, 16, 16, [&](Index j) {
    std::vector<Inst*> sums;
    for (int r = 0; r < 24; ++r) sums.push_back(b.local(b.load(out, j + r * 16), 16));
    Inst* v = b.load(in, j);
    b.for_(0, 10000, 1, [&](Index) {
      for (Inst* s : sums) b.set(s, pairs ? b.dot2(b.get(s), v, v) : b.fma(v, v, b.get(s)));
    });
    for (int r = 0; r < 24; ++r) b.store(out, j + r * 16, b.get(sums[static_cast<std::size_t>(r)]));
  });
  return kernel;
}

void print_assembly(const Kernel& kernel) {
  std::puts(compile::kernel_assembly(compile::CpuTarget::host(), kernel).c_str());
}

void product(const char* label, int rows, bool pairs, double peak_rate, bool assembly) {
  std::int64_t k = pairs ? 128 : 256;
  auto kernel = product_tile(rows, k, pairs);
  if (assembly) print_assembly(*kernel);
  auto f = compile::compile_kernel(*kernel);
  std::vector<float> a(static_cast<std::size_t>(rows * k), 0),
      x(static_cast<std::size_t>(32 * k), 0), c(static_cast<std::size_t>(rows * 32), 0);
  void* refs[] = {a.data(), x.data(), c.data()};
  constexpr int kTimes = 2000;
  double t = seconds_of([&] {
    for (int i = 0; i < kTimes; ++i) f(refs, 0, 1);
  });
  double rate = 2.0 * rows * 32 * static_cast<double>(k) * (pairs ? 2 : 1) * kTimes / t * 1e-9;
  std::printf("%-22s %8.1f GFLOP/s  %5.1f %% of peak\n", label, rate, 100 * rate / peak_rate);
}

double peak_rate(bool pairs) {
  auto kernel = peak(pairs);
  auto f = compile::compile_kernel(*kernel);
  std::vector<float> in(16, 0), out(16 * 24, 0);
  void* refs[] = {in.data(), out.data()};
  double t = seconds_of([&] {
    for (int i = 0; i < 20; ++i) f(refs, 0, 1);
  });
  double rate = 20 * 10000.0 * 24 * 16 * 2 * (pairs ? 2 : 1) / t * 1e-9;
  std::printf("%-22s %8.1f GFLOP/s\n", pairs ? "peak bf16" : "peak f32", rate);
  return rate;
}

/// Elements a nanosecond of y = f(x) in the first cache, and what compiling it takes.
void elementary(const loop::math::UnaryFunction& function, int lanes, bool assembly) {
  Kernel kernel(std::string(function.name));
  Builder b(kernel);
  constexpr std::int64_t n = 2048;
  Ref* x = b.parameter(DType::f32, n, Ref::Mode::in);
  Ref* y = b.parameter(DType::f32, n, Ref::Mode::out);
  b.vector(0, n, lanes, [&](Index i) { b.store(y, i, function.traced(b, b.load(x, i))); });
  if (assembly) print_assembly(kernel);
  compile::KernelFn f = nullptr;
  double compile =
      seconds_of([&] { f = compile::compile_kernel_for(compile::CpuTarget::host(), kernel); });
  std::vector<float> from(n), to(n);
  for (std::size_t i = 0; i < n; ++i) from[i] = 0.001f * static_cast<float>(i) + 0.01f;
  void* refs[] = {from.data(), to.data()};
  double t = seconds_of([&] {
    for (int i = 0; i < 500; ++i) f(refs, 0, 1);
  });
  std::printf("%-10s x%-3d %8.2f elements/ns   compiled in %5.1f ms\n", kernel.name.c_str(), lanes,
              500.0 * n / t * 1e-9, compile * 1e3);
}

void sweep(bool streaming, bool assembly) {
  Kernel kernel("axpb");
  Builder b(kernel);
  constexpr std::int64_t n = 1 << 24;
  Ref* x = b.parameter(DType::f32, n, Ref::Mode::in);
  Ref* y = b.parameter(DType::f32, n, Ref::Mode::out);
  b.vector(0, n, 32, [&](Index i) {
    b.store(y, i, b.fma(b.load(x, i), b.constant(DType::f32, 2), b.constant(DType::f32, 1)));
  });
  for (Inst& inst : kernel.arena) inst.streaming = streaming && inst.code == Opcode::store;
  if (assembly) print_assembly(kernel);
  auto f = compile::compile_kernel(kernel);
  auto* from = static_cast<float*>(std::aligned_alloc(64, n * 4));
  auto* to = static_cast<float*>(std::aligned_alloc(64, n * 4));
  for (std::int64_t i = 0; i < n; ++i) from[i] = to[i] = static_cast<float>(i);
  void* refs[] = {from, to};
  double t = seconds_of([&] { f(refs, 0, 1); });
  std::printf("%-22s %8.2f ms  %5.1f GB/s\n", streaming ? "2x + 1, streaming" : "2x + 1", t * 1e3,
              2.0 * n * 4 / t * 1e-9);
  std::free(from);
  std::free(to);
}

}  // namespace

int main(int argc, char** argv) {
  bool assembly = argc > 1 && std::strcmp(argv[1], "asm") == 0;
  double f32 = peak_rate(false), bf16 = peak_rate(true);
  product("product 14x32 f32", 14, false, f32, assembly);
  product("product 12x32 f32", 12, false, f32, false);
  product("product 8x32 f32", 8, false, f32, false);
  product("product 14x32 bf16", 14, true, bf16, assembly);
  product("product 12x32 bf16", 12, true, bf16, false);
  product("product 8x32 bf16", 8, true, bf16, false);
  for (const auto& function : loop::math::unary_functions())
    for (int lanes : {16, 32})
      elementary(function, lanes, assembly && function.name == "exp" && lanes == 16);
  sweep(false, assembly);
  sweep(true, assembly);
}
