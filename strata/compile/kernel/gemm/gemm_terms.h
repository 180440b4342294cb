// What a product's multiply-adds take of its operands: for each step of the sum an element of the
// accumulator's dtype, or two short ones that one instruction multiplies.
#pragma once

#include "strata/compile/kernel/gemm/gemm_operand.h"
#include "strata/compile/llvm/target.h"

namespace strata::compile {

/// Steps [k0, k0 + depth) of a product's sum, where they are one of `parts` parts.
struct KSlice {
  Index number, k0;
  std::int64_t kc, parts;
};

enum class TermKind : std::uint8_t {
  single,
  pairs,   // bf16, as one i32: elements 2s and 2s + 1 of a part are its step s; beyond the depth a
           // zero
  halves,  // short integers, as one i32: an element of the part's first half and that of its
           // second, which are beside others of theirs
  quads,   // bytes, as one i32: an element of each quarter of the part
};

/// Whether a product uses pairs of bf16.
bool uses_bf16_pairs(const ir::Op& product, const CpuTarget& target);
/// The same of one whose pairs are neighbours all along the sum: no chain of it may end within one.
bool sums_bf16_pairs(const ir::Op& product, const CpuTarget& target);

/// Elements of the sum that are one step, and the steps that so many elements make.
inline std::int64_t per_step(TermKind kind) {
  return kind == TermKind::single ? 1 : kind == TermKind::quads ? 4 : 2;
}
inline std::int64_t steps_of(TermKind kind, std::int64_t k) {
  return (k + per_step(kind) - 1) / per_step(kind);
}

/// sum + x * y for a step of terms of a kind: of floats rounded once, of integers wrapping. The
/// bytes of x are unsigned, those of y signed.
Inst* multiply_add(loop::Builder& b, TermKind kind, DType accumulator, Inst* x, Inst* y, Inst* sum);

/// Two bf16 as the i32 that `multiply_add` takes of pairs; no `high`: a zero.
Inst* pack_bf16_pair(loop::Builder& b, Inst* low, Inst* high);

class GemmTerms {
 public:
  GemmTerms(ElementalEmitter& context, Index batch, DType accumulator, TermKind kind)
      : context_(context), batch_(std::move(batch)), accumulator_(accumulator), kind_(kind) {}

  TermKind kind() const { return kind_; }
  /// In which they are laid out.
  DType dtype() const { return kind_ == TermKind::pairs ? DType::i32 : accumulator_; }
  /// That so many elements of k make.
  std::int64_t steps(std::int64_t k) const { return steps_of(kind_, k); }

  /// Of a side at `free`, at step s of a part. `odd_end`: the last pair has one element.
  Inst* at(const GemmOperand& side, const Index& free, const KSlice& part, const Index& s,
           bool odd_end = false) const;

 private:
  loop::Builder& builder() const { return context_.b; }
  Inst* element(const GemmOperand& side, const Index& free, const Index& k) const;

  ElementalEmitter& context_;
  Index batch_;
  DType accumulator_;
  TermKind kind_;
};

}  // namespace strata::compile
