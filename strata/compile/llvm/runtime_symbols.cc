#include "strata/compile/llvm/runtime_symbols.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "strata/base/check.h"
#include "strata/base/thread_pool.h"
#include "strata/loop/kernel/native.h"
#include "strata/type/float.h"

namespace {

/// A block of memory of this thread, as large as the largest request so far; it holds one kernel's scratch at a time.
class ScratchBlock {
 public:
  ~ScratchBlock() { std::free(memory_); }
  void* at_least(std::int64_t bytes) {
    if (bytes > size_) {
      std::free(memory_);
      size_ = (bytes + 4095) / 4096 * 4096;
      memory_ = std::aligned_alloc(64, static_cast<std::size_t>(size_));
      STRATA_CHECK(memory_, "no memory for {} bytes of scratch", size_);
    }
    return memory_;
  }

 private:
  void* memory_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace

extern "C" {

void* strata_scratch(std::int64_t bytes) {
  thread_local ScratchBlock block;
  return block.at_least(bytes);
}

/// x[i] = fmod(x[i], y[i]): the lanes of a remainder that the inline path does not take.
void strata_fmod_f32(float* x, const float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = std::fmod(x[i], y[i]);
}
void strata_fmod_f64(double* x, const double* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = std::fmod(x[i], y[i]);
}

// Conversions that LLVM calls by these names where the processor has none (libgcc 12 lacks those of bf16). The narrow
// value travels in the low bits of an SSE register, as the psABI says for _Float16 and __bf16.
static float in_register(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
static std::uint16_t from_register(float r) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(r)); }

float strata_truncsfbf2(float v) { return in_register(strata::bf16_bits(v)); }
float strata_truncsfhf2(float v) { return in_register(strata::f16_bits(v)); }
float strata_extendhfsf2(float r) { return strata::f16_value(from_register(r)); }

/// A double rounded to f32 so that rounding once more gives what rounding once would have: to odd.
static float rounded_to_odd(double v) {
  float f = static_cast<float>(v);
  if (std::isnan(v) || std::isinf(v) || static_cast<double>(f) == v) return f;
  std::uint32_t u = std::bit_cast<std::uint32_t>(f);
  bool away = std::fabs(static_cast<double>(f)) > std::fabs(v);
  if (away) --u;  // towards zero; an infinity becomes the largest number
  return std::bit_cast<float>(u | 1u);
}
float strata_truncdfbf2(double v) { return strata_truncsfbf2(rounded_to_odd(v)); }
float strata_truncdfhf2(double v) { return strata_truncsfhf2(rounded_to_odd(v)); }

}  // extern "C"

namespace strata::compile {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, void*> symbols;
};

template <class F>
void* address(F* f) {
  return reinterpret_cast<void*>(f);
}

Registry& registry() {
  static Registry& r = *new Registry{{},
                                     {{"strata_scratch", address(strata_scratch)},
                                      {"strata_fmod_f32", address(strata_fmod_f32)},
                                      {"strata_fmod_f64", address(strata_fmod_f64)},
                                      {"strata_parallel_for", address(parallel_for)},
                                      {"__truncsfbf2", address(strata_truncsfbf2)},
                                      {"__truncsfhf2", address(strata_truncsfhf2)},
                                      {"__truncdfbf2", address(strata_truncdfbf2)},
                                      {"__truncdfhf2", address(strata_truncdfhf2)},
                                      {"__extendhfsf2", address(strata_extendhfsf2)}}};
  return r;
}

}  // namespace

std::vector<std::pair<std::string, void*>> runtime_symbols() {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  std::vector<std::pair<std::string, void*>> all;
  for (const auto& [name, address] : r.symbols)
    if (address) all.emplace_back(name, address);
  for (const loop::NamedKernel& k : loop::native_kernels()) all.emplace_back(k.symbol, address(k.function));
  return all;
}

void add_runtime_symbol(const std::string& name, void* address) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  STRATA_CHECK(r.symbols.emplace(name, address).second || r.symbols[name] == address, "runtime symbol {} is given twice", name);
}

}  // namespace strata::compile
