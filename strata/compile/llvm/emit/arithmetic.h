// LLVM values of the loop form's instructions that compute: what loop.h calls "Arithmetic",
// "convert", "reduce". Private to compile/llvm: includes LLVM.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <vector>

#include "strata/compile/llvm/target.h"
#include "strata/loop/loop.h"

namespace strata::compile {

/// Emits at the builder's insertion point. All operands of one call have the same lanes.
class Arithmetic {
 public:
  Arithmetic(llvm::IRBuilder<>& builder, const CpuTarget& target) : b_(builder), target_(target) {}
  const CpuTarget& target() const { return target_; }

  /// The type of a value: i1 for booleans, iN for integers, float, double; i16 for bf16 and f16.
  llvm::Type* type(DType dtype, int lanes);
  /// The type of an element in memory: i8 for booleans and narrow integers, else as `type`.
  llvm::Type* stored_type(DType dtype, int lanes);
  llvm::Value* from_stored(DType dtype, llvm::Value* value);
  llvm::Value* to_stored(DType dtype, llvm::Value* value);
  llvm::Constant* constant(DType dtype, std::uint64_t bits);
  /// A uniform value on all lanes; a value that already has them stays.
  llvm::Value* stretch(llvm::Value* value, int lanes);

  llvm::Value* unary(loop::Opcode code, DType dtype, llvm::Value* a);
  llvm::Value* binary(loop::Opcode code, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* compare(loop::Compare compare, DType dtype, llvm::Value* a, llvm::Value* b);
  /// a < b ? a : b, or a > b ? a : b: b for NaN and equal zeros, too.
  llvm::Value* extremum_or_second(bool max, llvm::Value* a, llvm::Value* b);
  llvm::Value* convert(DType from, DType to, llvm::Value* a);
  /// The lanes of `x` by one number, with the bits of a division.
  llvm::Value* divide_by_uniform(llvm::Value* x, llvm::Value* divisor);
  llvm::Value* fma(llvm::Value* a, llvm::Value* b, llvm::Value* c);
  /// x 2^k (loop/scale.h).
  llvm::Value* scale(llvm::Value* x, llvm::Value* k, llvm::Value* power);
  /// The entry that the low bits of each lane of `index` number (loop/lookup.h).
  llvm::Value* lookup(llvm::Value* index, const std::vector<llvm::Constant*>& table);
  /// The lanes of `x`, as it is stored, whose mask holds, and zeros; how many they are
  /// (loop/compress.h).
  llvm::Value* compress(llvm::Value* mask, llvm::Value* x);
  llvm::Value* chosen(llvm::Value* mask);
  llvm::Value* integer_dot2(llvm::Value* acc, llvm::Value* a, llvm::Value* b);
  llvm::Value* dot2(DType dtype, llvm::Value* acc, llvm::Value* a, llvm::Value* b);
  llvm::Value* dot4(llvm::Value* acc, llvm::Value* a, llvm::Value* b);
  llvm::Value* reduce(loop::Opcode combiner, DType dtype, llvm::Value* a);

  /// A slot in the function's entry block.
  llvm::AllocaInst* slot(llvm::Type* type);

 private:
  llvm::Value* lookup_in_two(llvm::Value* index, const std::vector<llvm::Constant*>& table);
  llvm::Value* compress_by_eights(llvm::Value* mask, llvm::Value* x);
  llvm::Value* lookup_by_eights(llvm::Value* index, const std::vector<llvm::Constant*>& table);
  llvm::Value* float_binary(loop::Opcode code, llvm::Value* a, llvm::Value* b);
  llvm::Value* integer_binary(loop::Opcode code, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* divide(bool want_remainder, bool is_signed, llvm::Value* a, llvm::Value* b);
  llvm::Value* divide_by_floats(bool is_signed, llvm::Value* a, llvm::Value* b);
  llvm::Value* extremum(bool max, llvm::Value* a, llvm::Value* b);
  llvm::Value* extremum_with_constant(bool max, llvm::Value* c, llvm::Value* x);
  llvm::Value* ordered_extremum(bool max, llvm::Value* a, llvm::Value* b);
  llvm::Value* remainder(llvm::Value* a, llvm::Value* b);
  llvm::Value* remainder_call(llvm::Value* a, llvm::Value* b);
  llvm::Value* to_bf16(llvm::Value* a);
  llvm::Value* or_quiet_nan(llvm::Value* otherwise, llvm::Value* a);
  llvm::Value* to_narrow(DType to, llvm::Value* a);
  llvm::Value* to_wide(DType to, llvm::Value* a);
  llvm::Value* from_bf16(llvm::Value* a);
  llvm::Value* from_f16(llvm::Value* a);
  llvm::Value* to_odd_f32(llvm::Value* a);
  llvm::Value* pieces(const std::vector<llvm::Value*>& args, int lanes,
                      const std::function<llvm::Value*(const std::vector<llvm::Value*>&)>& f);
  llvm::Value* sub_vector(llvm::Value* v, int first, int count);
  /// The lanes of one behind those of the other; as many.
  llvm::Value* joined(llvm::Value* low, llvm::Value* high);
  llvm::Value* intrinsic(llvm::Intrinsic::ID id, llvm::Value* a);

  llvm::IRBuilder<>& b_;
  const CpuTarget& target_;
};

/// Lanes of an LLVM value: 1 for scalars.
int lanes_of(llvm::Value* value);

}  // namespace strata::compile
