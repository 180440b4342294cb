#include "strata/compile/llvm/code_units.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <map>
#include <mutex>

#include "strata/base/check.h"
#include "strata/base/stage_times.h"
#include "strata/base/thread_pool.h"
#include "strata/compile/llvm/code_cache.h"
#include "strata/compile/llvm/fingerprint.h"
#include "strata/compile/llvm/jit.h"

namespace strata::compile {
namespace {

/// Part of every key: the sources that decide which code a key gets, hashed by the build.
constexpr const char* kCodeVersion = STRATA_CODE_VERSION;

std::string full_key(const CodeUnit& unit) {
  return fmt::format("{} {} {} {}\n", unit.kind, kCodeVersion, unit.target->cpu,
                     unit.target->features) +
         unit.key;
}

using Code = Jit::Code;

/// Linked code by its full key, with the number of its handles: it is unloaded, under the lock,
/// when there are none.
struct MemoryCache {
  struct Entry {
    Code code;
    int handles = 0;
  };
  std::recursive_mutex mutex;  // handles may go while new ones are made
  std::map<std::string, Entry> entries;
  CompileCounts counts;

  /// One more handle; null where there is no such code.
  Code handle(const std::string& key) {
    auto it = entries.find(key);
    if (it == entries.end()) return nullptr;
    ++it->second.handles;
    return Code(it->second.code.get(), [this, key](void*) {
      std::lock_guard lock(mutex);
      auto at = entries.find(key);
      if (--at->second.handles == 0) entries.erase(at);
    });
  }
};
MemoryCache& memory_cache() {
  static MemoryCache& cache = *new MemoryCache;
  return cache;
}

/// A unit whose code is not in memory.
struct Missing {
  const CodeUnit* unit;
  std::string key, symbol, object;
  bool from_disk = false;

  void find_or_make() {
    std::optional<std::string> found;
    {
      Stage reads("  read from disk");
      found = CodeCache::standard().read(key);
    }
    if (found) {
      object = std::move(*found);
      from_disk = true;
      return;
    }
    object = make_code(*unit, symbol, false);
    Stage writes("  write to disk");
    CodeCache::standard().write(key, object);
  }
};

void link_missing(std::vector<Missing>& missing, MemoryCache& cache) {
  auto run = [](void* ctx, std::int64_t i, std::int64_t) {
    (*static_cast<std::vector<Missing>*>(ctx))[static_cast<std::size_t>(i)].find_or_make();
  };
  parallel_for(static_cast<std::int64_t>(missing.size()), 1, run, &missing);
  std::vector<std::string> objects, symbols;
  for (Missing& m : missing) {
    objects.push_back(std::move(m.object));
    symbols.push_back(m.symbol);
    ++(m.from_disk ? cache.counts.from_disk : cache.counts.made);
  }
  Stage links("  link");
  std::vector<Code> codes = Jit::global().link(std::move(objects), symbols);
  for (std::size_t i = 0; i < missing.size(); ++i)
    cache.entries[missing[i].key].code = std::move(codes[i]);
}

}  // namespace

std::string symbol_of(const CodeUnit& unit) { return unit.kind + "_" + digest(full_key(unit)); }

std::vector<Code> code_for(std::span<const CodeUnit> units) {
  MemoryCache& cache = memory_cache();
  std::lock_guard lock(cache.mutex);
  std::vector<std::string> keys;
  std::vector<Missing> missing;
  std::map<std::string, bool> wanted;
  for (const CodeUnit& unit : units) {
    keys.push_back(full_key(unit));
    if (cache.entries.contains(keys.back())) {
      ++cache.counts.from_memory;
    } else if (wanted.emplace(keys.back(), true).second) {
      missing.push_back({&unit, keys.back(), symbol_of(unit), {}});
    }
  }
  if (!missing.empty()) link_missing(missing, cache);
  std::vector<Code> result;
  for (const std::string& key : keys) result.push_back(cache.handle(key));
  return result;
}

std::string make_code(const CodeUnit& unit, const std::string& symbol, bool assembly) {
  llvm::LLVMContext context;
  llvm::Module module(symbol, context);
  {
    Stage emits("  emit");
    unit.emit(module, symbol);
  }
  return Jit::global().make_object(module, *unit.target, assembly);
}

std::string make_llvm(const CodeUnit& unit, const std::string& symbol) {
  llvm::LLVMContext context;
  llvm::Module module(symbol, context);
  unit.emit(module, symbol);
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, nullptr);
  return text;
}

CompileCounts compile_counts() {
  std::lock_guard lock(memory_cache().mutex);
  return memory_cache().counts;
}

}  // namespace strata::compile
