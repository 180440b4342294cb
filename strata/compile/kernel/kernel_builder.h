// What a kernel builder makes, and the context kernels share: values in memory as parameters,
// values of the group computed in place.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "strata/compile/fuse/fusion.h"
#include "strata/compile/kernel/elemental_emitter.h"

namespace strata::compile {

/// What a kernel parameter is bound to: a value of the graph, or temporary memory `temporary` of
/// the same build.
struct Binding {
  const ir::Value* value = nullptr;
  int temporary = -1;
};

/// One kernel with the bindings of its parameters, in their order.
struct BuiltKernel {
  std::unique_ptr<loop::Kernel> kernel;
  std::vector<Binding> bindings;
  bool parallel = false;
};

/// The kernels of one group, run in order, and the bytes of the temporaries they pass on.
struct Built {
  std::vector<BuiltKernel> kernels;
  std::vector<std::int64_t> temporaries;
};

/// Reads values from memory (a parameter each) or computes them where the fusion inlined them.
class KernelContext : public ElementalEmitter {
 public:
  KernelContext(loop::Builder& b, const Fusion& fusion, BuiltKernel& built)
      : ElementalEmitter(b), fusion_(fusion), built_(built) {}

  /// The parameter that a value is read from.
  loop::Ref* input(const ir::Value* v);
  /// The parameter that a value is written to (and may be read from after).
  loop::Ref* output(const ir::Value* v);
  /// Whether a result is larger than the caches, or read long after.
  virtual bool goes_past_caches(const ir::Value* v) const {
    return v->type().bytes() >= kBeyondCaches || fusion_.streaming_results.count(v) != 0;
  }
  /// Writes what is in memory for an element of a result that this kernel does not read again.
  void store_result(const ir::Value* v, const Index& offset, std::span<Inst* const> stored);
  loop::Ref* temporary(int number, DType dtype, std::int64_t count, loop::Ref::Mode mode);

 protected:
  bool inlined(const ir::Value* v) override { return fusion_.inlined.count(v) != 0; }
  bool known(const ir::Value* v) override { return fusion_.runtime_constants.count(v) == 0; }
  Inst* leaf(const ir::Value* v, std::span<const Index>, const Index& offset) override {
    return b.load(input(v), offset);
  }

  const Fusion& fusion_;

 private:
  BuiltKernel& built_;
  std::unordered_map<const ir::Value*, loop::Ref*> inputs_, outputs_;
};

constexpr std::int64_t kPointElements = 16384;  // the most elements of one grid point of a map

/// Another kernel of a build, of so many elements of a group; parallel where they are worth it.
loop::Kernel& add_kernel(Built& out, const char* name, const Group& group, std::int64_t elements);
/// Stores `outputs` at places, all values before all stores: a result may be in the memory of an
/// argument that is read at the same place, and stores branch once, on whether they may go past the
/// caches. `before(i)` is told which place is asked for next.
void store_elements(KernelContext& context, std::span<const ir::Value* const> outputs,
                    std::span<const Index> places,
                    const std::function<void(std::size_t)>& before = nullptr);

/// The number of the lane that an index depends on; 0 where it is the same in all.
Index lane_of(const Index& index);

constexpr std::int64_t kCacheLine = 64;  // bytes of a line of the cache
/// Whether so many neighbours of each row of an array of this type, in rows of `row` elements, from
/// element `begin` of each on, are whole lines of the cache: what goes past the caches in parts of
/// lines takes ten times as long.
bool fills_lines(const Type& type, std::int64_t row, std::int64_t begin, std::int64_t neighbours);
/// What a load of several lanes will read so many elements further on is fetched meanwhile; nothing
/// for another instruction, or none.
void fetch_ahead(Inst* inst, std::int64_t elements);
/// What vectors read of large arrays from instruction `begin` on, a sweep over what no cache holds,
/// is fetched a page ahead: a processor's own fetching begins anew with each page, and pauses where
/// a row's end is worked on (rows' maxima of 4096 x 4096 f32 on two threads: 1.33 ms without, 1.18
/// with). Arrays that the last cache may hold are read a quarter slower so.
void fetch_a_page_ahead(loop::Kernel& kernel, std::size_t begin = 0);

/// Values of the group are computed where they are asked for.
class GroupContext : public KernelContext {
 public:
  GroupContext(loop::Builder& b, const Group& group, const Fusion& fusion, BuiltKernel& built)
      : KernelContext(b, fusion, built) {
    for (const ir::Op* op : group.roots)
      for (const ir::Value* v : op->results()) roots_.insert(v);
  }

 protected:
  bool inlined(const ir::Value* v) override { return is_root(v) || KernelContext::inlined(v); }
  bool is_root(const ir::Value* v) const { return roots_.count(v) != 0; }

 private:
  std::unordered_set<const ir::Value*> roots_;
};

/// `look` at each operation that a group computes, once.
template <class F>
void each_computed(const Group& group, const Fusion& fusion, F look) {
  std::unordered_set<const ir::Op*> seen;
  std::vector<const ir::Op*> waiting(group.roots.begin(), group.roots.end());
  while (!waiting.empty()) {
    const ir::Op& op = *waiting.back();
    waiting.pop_back();
    if (!seen.insert(&op).second) continue;
    look(op);
    for (const ir::Value* v : op.operands)
      if (fusion.inlined.count(v)) waiting.push_back(v->op());
  }
}

/// Lanes of a map along its elements.
inline constexpr int kMapLanes = 16;
/// Work below this runs on the caller; in elements times operations, a rough
/// count.
inline constexpr double kInlineWork = 3e4;
/// How many rows one grid point takes at most: as many as have so many elements together, and many
/// long ones if there are many. The next row is fetched while one is worked on, by the thread that
/// takes it then (4096 x 4096 f32 on two threads of a Zen 5, ms: softmax 2.90 by 4 rows, 2.57 by
/// 32; argmax 1.27, 1.16).
std::int64_t rows_of_point(std::int64_t rows, std::int64_t length, std::int64_t elements);
/// The largest divisor of n that is at most `most`, at least 1.
std::int64_t largest_divisor(std::int64_t n, std::int64_t most);

}  // namespace strata::compile
