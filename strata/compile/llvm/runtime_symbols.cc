#include "strata/compile/llvm/runtime_symbols.h"

#include <map>
#include <mutex>

#include "strata/base/check.h"
#include "strata/base/thread_pool.h"
#include "strata/compile/llvm/runtime_functions.h"
#include "strata/loop/kernel/native.h"
#include "strata/loop/tiles.h"

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
                                      {"strata_chain_scratch", address(strata_chain_scratch)},
                                      {"strata_copy", address(strata_copy)},
                                      {"strata_run_streams", address(strata_run_streams)},
                                      {"strata_fmod_f32", address(strata_fmod_f32)},
                                      {"strata_fmod_f64", address(strata_fmod_f64)},
                                      {"strata_parallel_for", address(parallel_for)},
                                      {"strata_parallel_for_brief", address(parallel_for_brief)},
                                      {"strata_tile_product", address(strata_tile_product)},
                                      {"strata_turn_squares", address(strata_turn_squares)},
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
  for (const loop::NamedKernel& k : loop::native_kernels())
    all.emplace_back(k.symbol, address(k.function));
  return all;
}

void add_runtime_symbol(const std::string& name, void* address) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  STRATA_CHECK(r.symbols.emplace(name, address).second || r.symbols[name] == address,
               "runtime symbol {} is given twice", name);
}

}  // namespace strata::compile
