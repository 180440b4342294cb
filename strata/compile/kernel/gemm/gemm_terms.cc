#include "strata/compile/kernel/gemm/gemm_terms.h"

#include "strata/compile/kernel/kernel_builder.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/reduce/combiner.h"

namespace strata::compile {

using loop::Opcode;

namespace {

Inst* low_bits(loop::Builder& b, Inst* x) {
  return b.convert(DType::ui32, b.bitcast(DType::ui16, x));
}
Inst* both(loop::Builder& b, Inst* low, Inst* high) {
  return b.bitcast(
      DType::i32,
      b.binary(Opcode::or_, low, b.binary(Opcode::shl, high, b.constant_int(DType::ui32, 16))));
}

}  // namespace

bool uses_bf16_pairs(const ir::Op& product, const CpuTarget& target) {
  return target.avx512bf16 && product.operand(0)->dtype() == DType::bf16 &&
         product.operand(1)->dtype() == DType::bf16 &&
         op::product_accumulator(product) == DType::f32;
}

bool sums_bf16_pairs(const ir::Op& product, const CpuTarget& target) {
  const auto chains = op::sum_chains(product);
  return uses_bf16_pairs(product, target) && (!chains || chains->chain % 2 == 0);
}

Inst* multiply_add(loop::Builder& b, TermKind kind, DType accumulator, Inst* x, Inst* y,
                   Inst* sum) {
  if (kind == TermKind::quads) return b.dot4(sum, x, y);
  if (kind != TermKind::single) return b.dot2(sum, x, y);
  if (is_float(accumulator)) return b.fma(x, y, sum);
  return b.binary(op::opcode(op::Combiner::add, accumulator), sum,
                  b.binary(op::opcode(op::Combiner::mul, accumulator), x, y));
}

Inst* pack_bf16_pair(loop::Builder& b, Inst* low, Inst* high) {
  return high ? both(b, low_bits(b, low), low_bits(b, high))
              : b.bitcast(DType::i32, low_bits(b, low));
}

Inst* GemmTerms::element(const GemmOperand& side, const Index& free, const Index& k) const {
  Inst* out = context_.at(side.value, side.index(builder(), batch_, free, k));
  fetch_ahead(out, side.ahead);
  return out;
}

Inst* GemmTerms::at(const GemmOperand& side, const Index& free, const KSlice& part, const Index& s,
                    bool odd_end) const {
  loop::Builder& b = builder();
  if (kind_ == TermKind::single) return b.convert(accumulator_, element(side, free, part.k0 + s));
  if (kind_ == TermKind::pairs) {
    const Index k = part.k0 + s * 2;
    Inst* low = element(side, free, k);
    return pack_bf16_pair(b, low, odd_end ? nullptr : element(side, free, k + 1));
  }
  if (kind_ == TermKind::quads) {
    Inst* four = nullptr;
    for (std::int64_t quarter = 0; quarter < 4; ++quarter) {
      Inst* byte = b.convert(
          DType::ui32,
          b.bitcast(DType::ui8, element(side, free, part.k0 + s + quarter * steps(part.kc))));
      four = quarter == 0
                 ? byte
                 : b.binary(Opcode::or_, four,
                            b.binary(Opcode::shl, byte, b.constant_int(DType::ui32, 8 * quarter)));
    }
    if (side.flips) four = b.binary(Opcode::xor_, four, b.constant_int(DType::ui32, 0x80808080));
    return b.bitcast(DType::i32, four);
  }
  auto half = [&](const Index& k) {
    return low_bits(b, b.convert(DType::i16, element(side, free, k)));
  };
  Inst* high = half(part.k0 + s + steps(part.kc));
  return both(b, half(part.k0 + s), high);
}

}  // namespace strata::compile
