// What is recognised of the region of a reduction or a scatter, and its scalar arithmetic.
//
// Minimum and maximum propagate NaN and order -0 below +0; integers wrap; on booleans add is or,
// mul is and.
#pragma once

#include <complex>
#include <string_view>
#include <type_traits>

#include "strata/op/def.h"
#include "strata/op/elementwise/numbers.h"

namespace strata::op {

/// "add" "mul" "min" "max" "and" "or" "xor" "region", as in the attribute `combiner`.
std::string_view name(Combiner combiner);
/// The inverse; nothing for another word.
std::optional<Combiner> parse_combiner(std::string_view text);
/// The attribute `combiner` of a reduction or scatter. A scatter's "assign" is asked for with
/// `assigns`.
Combiner combiner_of(const Op& op);
bool assigns(const Op& op);

/// The instruction that combines two values of `dtype` (booleans: add is or, mul is and). Not for
/// `region`.
loop::Opcode opcode(Combiner combiner, DType dtype);
/// The type in which a plain combiner accumulates: f32 for bf16 and f16, else the type itself.
DType accumulator(DType dtype);
/// Whether elements of `dtype` give the same bits in whatever order they are combined: all but
/// rounded sums and products.
bool in_any_order(Combiner combiner, DType dtype);
/// The neutral element as a scalar: -0.0, 1, +inf, -inf, all ones, 0 ... x op identity has the bits
/// of x.
Literal identity(Combiner combiner, DType dtype);
/// The initial value that programs write: the identity, but +0 for a sum.
Literal initial_value(Combiner combiner, DType dtype);
/// Whether `v` is a constant that changes nothing as the initial value of a reduction (either zero
/// for a sum).
bool is_neutral(const Value* v, Combiner combiner);

namespace internal {

template <class T>
inline constexpr bool is_complex_v = false;
template <class T>
inline constexpr bool is_complex_v<std::complex<T>> = true;

}  // namespace internal

/// `accumulator` for C++ types.
template <class S>
using Accumulator =
    std::conditional_t<std::is_same_v<S, BFloat16> || std::is_same_v<S, Float16>, float, S>;

/// a op b for a type that arithmetic is done in (not bf16 or f16).
template <class T>
T combine(Combiner combiner, T a, T b) {
  if constexpr (internal::is_complex_v<T>) {
    if (combiner == Combiner::add) return a + b;
    if (combiner == Combiner::mul) return a * b;
  } else {
    switch (combiner) {
      case Combiner::add: return numbers::add(a, b);
      case Combiner::mul: return numbers::mul(a, b);
      case Combiner::min: return numbers::min(a, b);
      case Combiner::max: return numbers::max(a, b);
      default: break;
    }
  }
  if constexpr (std::is_integral_v<T>) {
    if (combiner == Combiner::and_) return numbers::and_(a, b);
    if (combiner == Combiner::or_) return numbers::or_(a, b);
    if (combiner == Combiner::xor_) return numbers::xor_(a, b);
  }
  STRATA_UNREACHABLE("combiner {} on {}", name(combiner), strata::name(dtype_of<T>));
}

/// Throws unless the combiner exists for the dtype (min and max not for complex, bit operations for
/// integers and i1).
void expect_combiner(std::string_view op, Combiner combiner, DType dtype);
/// Throws unless the region maps 2n scalars of `dtypes` (current values, then new ones) to n
/// scalars of them.
void expect_region(std::string_view op, std::span<const std::unique_ptr<Block>> regions,
                   const std::vector<DType>& dtypes);

/// Throws unless `dtype` is the element type or one that it may be promoted to (C6 of reduce, C23
/// of scatter): of the same kind, no narrower.
void expect_promotable(std::string_view op, DType element, DType dtype);
/// x in another dtype of its kind.
Literal promoted(const Literal& x, DType dtype, Evaluator& evaluator);

/// `split` of an operation whose region is that of the attribute `combiner`, with complex or narrow
/// values: sums part by part, others as a region on parts. Narrow floats are combined in f32 and
/// rounded once, or in every application where `rounds_each`.
std::vector<Parts> split_combined(Builder& b, const Op& op, std::span<const Parts> operands,
                                  bool rounds_each);

/// Emits current op update in the storage dtype `dtype` (rounded once), for a plain combiner.
loop::Inst* lower_combine(loop::Builder& b, Combiner combiner, DType dtype, loop::Inst* current,
                          loop::Inst* update);

/// x op y, elementwise; not of a region.
Value* combined(Builder& b, Combiner combiner, Value* x, Value* y);

}  // namespace strata::op
