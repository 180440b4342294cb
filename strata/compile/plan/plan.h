// The plan: a compiled program before its driver is printed. Kernels, where every buffer is, and
// the steps in order. compile/llvm prints the steps as one native function, so that loops and
// branches run without an interpreter.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "strata/compile/llvm/target.h"
#include "strata/loop/loop.h"
#include "strata/type/literal.h"

namespace strata::compile {

/// One piece of memory the driver addresses.
struct PlanBuffer {
  enum class Kind : std::uint8_t { argument, result, constant, temporary, scratch };
  Kind kind = Kind::temporary;
  int number = 0;  // argument, result, constant: which one
  std::int64_t bytes = 0;
  std::int64_t offset = 0;  // temporary: place in the arena; scratch: of one part in the pipeline's
                            // scratch, in that of a stream; a multiple of 64
};

/// buffer + offset + counter * stride, all in bytes; counter is the number of an enclosing
/// CountedLoop (-1: none).
struct Address {
  int buffer = -1;
  std::int64_t offset = 0;
  int counter = -1;
  std::int64_t stride = 0;
  bool operator==(const Address&) const = default;
};

struct Step;
using Steps = std::vector<Step>;

/// Runs a kernel: its parameters (loop::Kernel::parameters()) at these addresses. With `parallel`,
/// grid points are cut into chunks of `grain` (>= 1) for the pool, as a `brief` call
/// (parallel_for_brief) or any; otherwise all run on the caller.
struct Launch {
  int kernel = 0;
  std::vector<Address> arguments;
  bool parallel = false;
  bool brief = false;
  std::int64_t grain = 1;
};
/// Runs a kernel of loop/kernel/native.h on grid points [0, grid), `parallel` as for a Launch.
/// After one that `may_fail` the steps end where RunContext::failed says so.
struct LaunchNative {
  std::string symbol;
  std::vector<Address> arguments;  // operands, then results
  std::vector<std::int64_t> params;
  std::int64_t grid = 1;
  bool parallel = false;
  std::int64_t grain = 1;
  bool may_fail = false;
};
/// Launches whose grids are cut into `slices` equal slices: slice p of each runs before slice p of
/// the next, and parts run in any order. What part p reads of a buffer that another launch of the
/// pipeline writes, part p wrote (grid_slices.h), so the results are those of the launches one
/// after another. Buffers of kind scratch are used by one pipeline alone and hold one part at a
/// time.
struct TilePipeline {
  std::vector<Launch> launches;
  std::int64_t slices = 1;
  std::int64_t scratch_bytes = 0;  // of one part
};
/// ConcurrentLaunches of launches that have nothing to do with each other (the leaves of an
/// optimizer's step), as one parallel call. The launches of a stream stand one behind the other and
/// run in this order on one thread; claims run in any order. Buffers of kind scratch belong to one
/// stream alone.
struct ConcurrentLaunches {
  /// All grid points of some launches, which are whole streams; or grid points [begin, end) of the
  /// only launch of a stream.
  struct Claim {
    std::int64_t first = 0, count = 1;   // numbers of launches
    std::int64_t begin = 0, end = kAll;  // of the one launch
    static constexpr std::int64_t kAll = -1;
  };
  std::vector<Launch> launches;
  std::vector<Claim> claims;
  std::int64_t streams = 0;
  std::int64_t scratch_bytes = 0;  // of one stream
};
/// memmove of `bytes`.
struct Copy {
  Address from, to;
  std::int64_t bytes = 0;
  std::string why = {};  // for --explain: the operation that still reads the old value of a carry,
                         // so that this copy is made in each iteration
};
/// for (counter = 0; counter < count; ++counter) body; `reverse` counts down from count - 1.
struct CountedLoop {
  int counter = 0;
  std::int64_t count = 0;
  bool reverse = false;
  Steps body;
};
/// for (;;) { condition; if (!*(bool*)predicate) break; body; }
struct WhileLoop {
  Steps condition;
  Address predicate;
  Steps body;
};
/// branches[clamp(*(int32*)index)]: an index out of range takes the last branch. With `boolean`,
/// the index is one byte: nonzero takes branch 0, zero branch 1 (stablehlo.if).
struct Branch {
  Address index;
  bool boolean = false;
  std::vector<Steps> branches;
};

struct Step {
  std::variant<Launch, LaunchNative, TilePipeline, ConcurrentLaunches, Copy, CountedLoop, WhileLoop,
               Branch>
      what;
};

struct Plan {
  std::string name = "main";
  CpuTarget target = CpuTarget::host();  // the processor its kernels are laid out and compiled for
  std::vector<std::unique_ptr<loop::Kernel>> kernels;
  std::vector<PlanBuffer> buffers;
  std::vector<Literal> constants;
  std::int64_t arena_bytes = 0;
  int num_counters = 0;
  Steps steps;
  std::vector<Type> argument_types, result_types;
  /// result r takes the memory of argument `aliased[r]` when that one is donated and unique; -1:
  /// none.
  std::vector<int> aliased;
};

/// What the driver gets. All pointers are 64-byte aligned.
struct RunContext {
  void* const* arguments;
  void* const* results;
  void* const* constants;
  std::byte* arena;
  const std::uint8_t* failed =
      nullptr;  // nonzero once a step has failed; asked only after steps that may
};

}  // namespace strata::compile
