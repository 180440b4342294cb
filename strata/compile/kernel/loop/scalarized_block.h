// Blocks whose arrays have a few elements, as instructions of a kernel: every element is a value,
// nothing is in memory but arrays that loops carry and update in place.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "strata/compile/kernel/kernel_builder.h"
#include "strata/op/control/unrolled.h"

namespace strata::compile {

/// The elements of a value, row-major, in its storage dtype.
using Elements = std::vector<Inst*>;

/// Emits blocks one inside another. What it cannot say (`failed`) it emits as zeros: the kernel is
/// then thrown away.
class ScalarizedBlock : public op::UnrolledContext {
 public:
  static constexpr std::int64_t kMostElements = 16;  // of an array that is values
  static constexpr std::int64_t kMostReduced =
      64;  // of an array that is reduced in the kernel; terms of a product
  static constexpr std::size_t kMostInsts = 8000;  // of a kernel: what LLVM makes of it takes time

  explicit ScalarizedBlock(KernelContext& outer) : UnrolledContext(outer.b), outer_(outer) {}

  static bool is_small(const ir::Value* v);
  bool failed() const { return failed_; }
  /// About how many instructions more this is than kernels with lanes would have.
  double excess() const { return excess_; }
  void fail() { failed_ = true; }

  /// Makes these the elements of v.
  void set(const ir::Value* v, Elements elements) { elements_[v] = std::move(elements); }
  /// Makes `ref` the memory of v until an update takes it.
  void set_memory(const ir::Value* v, loop::Ref* ref) { memory_[v] = ref; }
  /// Whether v is the array in this memory now.
  bool lies_in(const ir::Value* v, const loop::Ref* ref) const;
  /// The elements of a small value, of this kernel or from outside.
  Elements elements(const ir::Value* v);
  /// Emits the operations of a block whose arguments are set, and gives its results' elements;
  /// those that are in memory give none.
  std::vector<Elements> run(const ir::Block& block);
  /// Locals with these initial elements, what they hold now, and new values for them.
  Elements locals(const Elements& initial);
  Elements now(const Elements& locals);
  void assign(const Elements& locals, const Elements& values);

  Inst* operand(const ir::Op& op, int i, std::span<const Index> index) override {
    return at(op.operand(i), index);
  }
  Inst* at(const ir::Value* v, std::span<const Index> index) override;

 private:
  Inst* zero(const ir::Value* v) { return b.constant_bits(stored_dtype(v->type()), 0); }
  Inst* chosen(const Elements& elements, const Index& offset);
  void step(const ir::Op& op);
  void emit(const ir::Op& op);
  void note_excess(const ir::Op& op, std::size_t insts);
  void elementwise(const ir::Op& op, const op::Elementwise& rule);
  void reduce(const ir::Op& op, op::Reduction rule);
  Elements reduce_by_region(const ir::Op& op, const std::vector<std::vector<Index>>& places);
  Inst* reduce_plain(const ir::Op& op, const op::Reduction& rule,
                     const std::vector<std::vector<Index>>& places);
  void product(const ir::Op& op, const op::Contraction& rule);
  void update(const ir::Op& op, const op::Update& rule);
  void while_loop(const ir::Op& op);
  void scan(const ir::Op& op);
  void branch(const ir::Op& op);

  KernelContext& outer_;
  bool failed_ = false;
  double excess_ = 0;
  std::unordered_map<const ir::Value*, Elements> elements_;  // lookup only
  std::unordered_map<const ir::Value*, loop::Ref*> memory_;  // lookup only
  std::unordered_map<const ir::Value*, const ir::Value*>
      same_;  // lookup only: large ones that a region calls by another name
  std::unordered_set<const ir::Value*> overwritten_;  // of those in memory
  std::unordered_set<const ir::Block*> blocks_;       // those under way or done
};

}  // namespace strata::compile
