// Runs programs that `strata compile` wrote as object files.
#include <cstdlib>

#include "strata/base/thread_pool.h"
#include "strata/compile/cpu/object_program.h"
#include "strata/compile/cpu/processor_features.h"

using strata::compile::ObjectProgram;

namespace {

/// What to say of the first feature that the code needs and the processor does not have, or
/// nothing.
const char* missing_feature(std::uint64_t needed) {
  __builtin_cpu_init();
  std::uint64_t known = 0;
#define STRATA_EXPECT_FEATURE(bit, name)                           \
  known |= std::uint64_t{1} << (bit);                              \
  if ((needed >> (bit) & 1) != 0 && !__builtin_cpu_supports(name)) \
    return "this processor has no " name ": compile the program for it (strata compile --cpu)";
  STRATA_PROCESSOR_FEATURES(STRATA_EXPECT_FEATURE)
#undef STRATA_EXPECT_FEATURE
  return (needed & ~known) == 0 ? nullptr
                                : "the object file needs features that this runtime does not know: "
                                  "link with the runtime of its release";
}

/// Memory for a run's intermediate values: what the last run gave back, or new.
class Arena {
 public:
  explicit Arena(const ObjectProgram& program)
      : kept_(*program.arena), memory_(kept_.exchange(nullptr)) {
    if (!memory_)
      memory_ =
          std::aligned_alloc(64, static_cast<std::size_t>(program.arena_bytes + 63) / 64 * 64 + 64);
  }
  ~Arena() { std::free(kept_.exchange(memory_)); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  std::byte* memory() const { return static_cast<std::byte*>(memory_); }

 private:
  std::atomic<void*>& kept_;
  void* memory_;
};

}  // namespace

extern "C" {

const char* strata_run_object(const ObjectProgram* program, void* const* arguments,
                              void* const* results);
void strata_runtime_threads(int n);

const char* strata_run_object(const ObjectProgram* program, void* const* arguments,
                              void* const* results) {
  if (program->version != strata::compile::kObjectVersion)
    return "the object file and the runtime are of different releases: compile the program again";
  if (const char* missing = missing_feature(program->features)) return missing;
  Arena arena(*program);
  if (!arena.memory()) return "out of memory";
  strata::DefaultFloatEnvironment environment;
  const strata::compile::RunContext context{arguments, results, program->constants, arena.memory()};
  program->driver(&context);
  return nullptr;
}

void strata_runtime_threads(int n) { strata::set_num_threads(n < 0 ? 0 : n); }

}  // extern "C"
