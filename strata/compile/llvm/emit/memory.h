// Addresses, loads and stores of a kernel being printed, under the mask of the current strip.
// Private to compile/llvm: includes LLVM.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <utility>

#include "strata/compile/llvm/emit/arithmetic.h"
#include "strata/loop/loop.h"

namespace strata::compile {

class Memory {
 public:
  using ValueOf = std::function<llvm::Value*(const loop::Inst*)>;
  Memory(llvm::IRBuilder<>& builder, Arithmetic& math, ValueOf value)
      : b_(builder), math_(math), value_(std::move(value)) {}

  void bind(const loop::Ref* ref, llvm::Value* pointer) { pointers_[ref->id] = pointer; }
  /// After all are bound: which buffers cannot overlap (emit_kernel.h).
  void keep_apart(const loop::Kernel& kernel);
  /// The lanes that are alive: `mask` is null for all; `first` says how many where they are the
  /// first ones, else it is null.
  struct Alive {
    llvm::Value *mask = nullptr, *first = nullptr;
  };
  llvm::Value* mask() const { return alive_.mask; }
  const Alive& alive() const { return alive_; }
  void set_alive(const Alive& alive) { alive_ = alive; }

  llvm::Value* load(const loop::Inst& inst);
  /// Stores in succession, in this order. Those that take turns in memory (elements 0, 2, 4 ... and
  /// 1, 3, 5 ...) become stores of what is there.
  void store(std::span<const loop::Inst* const> all);
  void fetch(const loop::Inst& inst);
  /// Where a uniform load reads.
  llvm::Value* address(const loop::Inst& inst) { return place(inst, 1).pointer; }
  /// At the end of the function: streaming stores are made visible to other threads.
  void finish();

  /// An index as i64, of as many lanes as it has.
  llvm::Value* index_value(const loop::Index& index);
  /// Smallest and largest value of an i64, as far as known.
  std::pair<std::int64_t, std::int64_t> range(const loop::Inst* value) const;

 private:
  /// Where the lanes of one access are.
  struct Place {
    enum class Kind { uniform, contiguous, backwards, scattered } kind;
    llvm::Value* pointer;  // the element of lane 0; scattered: all elements' pointers
  };
  Place place(const loop::Inst& inst, int lanes);
  llvm::Value* element_pointer(const loop::Ref* ref, const loop::Index& uniform);
  llvm::Value* strided_load(const loop::Inst& inst, std::int64_t stride);
  llvm::Value* interleaved(std::vector<llvm::Value*> values);
  llvm::Value* scattered(llvm::Value* base, llvm::Type* element,
                         const std::vector<loop::Index::Term>& terms, int lanes);
  void fetch_line(llvm::Value* pointer);
  void fetch_ahead(const loop::Inst& inst, llvm::Value* pointer, int lanes);
  llvm::Value* uniform_load(const loop::Inst& inst, llvm::Value* pointer, int lanes);
  void uniform_store(const loop::Inst& inst, llvm::Value* pointer, llvm::Value* stored);
  void store_one(const loop::Inst& inst);
  bool streams(const loop::Inst& inst, std::size_t turns) const;
  /// What a store, or several that take turns, write without a mask: contiguous elements.
  struct Strip {
    const loop::Inst* first;
    llvm::Value *pointer, *stored;
  };
  Strip strip(std::span<const loop::Inst* const> turns);
  void write(const Strip& strip, llvm::Align alignment, llvm::MDNode* hint = nullptr);
  std::size_t turns(std::span<const loop::Inst* const> stores) const;
  void stream(std::span<const Strip> strips);
  std::uint64_t strip_alignment(const loop::Inst& inst) const;
  template <class Access>
  Access* of(const loop::Inst& inst, Access* access);
  llvm::Value* known_lanes(const loop::Inst& inst, int lanes, llvm::Value* mask,
                           llvm::Value* otherwise);
  bool masks_words(llvm::Type* t) const;
  llvm::Value* inside_or_begin(const loop::Inst& inst, llvm::Value* first);
  llvm::Value* masked_load(const loop::Inst& inst, llvm::Type* t, llvm::Value* first,
                           llvm::Value* mask, llvm::Value* otherwise);
  llvm::Value* load_first(const loop::Inst& inst, llvm::Value* at, int count,
                          llvm::Value* otherwise);
  void masked_store(const loop::Inst& inst, llvm::Value* stored, llvm::Value* first,
                    llvm::Value* mask);
  void store_first(const loop::Inst& inst, llvm::Value* stored, llvm::Value* at,
                   llvm::Value* count);
  llvm::Value* any(llvm::Value* mask);
  llvm::Value* combined_mask(llvm::Value* predicate, int lanes);
  llvm::Value* reversed(llvm::Value* v);
  void when(llvm::Value* condition, const std::function<void()>& f);

  llvm::IRBuilder<>& b_;
  Arithmetic& math_;
  ValueOf value_;
  struct Scopes {
    llvm::MDNode *own, *others;
  };
  std::map<int, llvm::Value*> pointers_;
  std::map<int, Scopes> scopes_;
  Alive alive_;
  bool streamed_ = false;
};

}  // namespace strata::compile
