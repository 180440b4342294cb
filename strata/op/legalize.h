// Types that kernels do not know, said by types that they do.
//
// The loop form computes on i1, i8 .. i64, ui8 .. ui64, bf16, f16, f32 and f64. A value of another
// type is stated by its *parts*, ordinary values of the graph:
//
//   complex<T>        two parts of T: real and imaginary
//   i2, i4, ui2, ui4  one part, i8 or ui8, holding the number; arithmetic is done there and wrapped
//   f4*, f6*, f8*     one part, ui8, holding the bits; arithmetic is done in f32 and rounded once
//   quantised         the part of its stored integers; arithmetic is done on the numbers they stand
//   for (op/quantized/quantized.h)
//
// The parts are the elements as they are in memory, so that arguments and results keep their bytes.
// How an operation acts on parts is its `split` rule, or the default here: movers act on each part;
// elementwise operations on narrow types decode, compute and encode; operations with regions carry
// the parts; kernels that take complex memory get it whole. A rule that returns nothing leaves the
// operation to that default. Compiled code and the reference evaluator go through the same rules,
// which is why their bits agree.
#pragma once

#include <memory>

#include "strata/op/def.h"

namespace strata::op {

/// Whether kernels compute on the type as it is.
bool is_legal(DType dtype);
/// The types of a value's parts.
std::vector<Type> part_types(const Type& type);
/// The type in which arithmetic on a narrow type is done: i8, ui8 or f32; others themselves.
DType wide_type(DType dtype);
/// Between the part of a narrow value and the number in `wide_type(dtype)`. For legal types: the
/// value itself.
Value* decode(Builder& b, Value* part, DType dtype);
Value* encode(Builder& b, Value* number, DType dtype);
/// The parts of a value that is in memory, and the value that parts make there.
Parts parts_of(Builder& b, Value* v);
Value* value_of(Builder& b, const Parts& parts, const Type& type);

/// Whether an operand, a result or anything in the regions of `op` has a type that kernels do not
/// know.
bool needs_legalizing(const Op& op);

/// Whether `op` is given values of such types as they are in memory: complex ones where its kernel
/// and evaluation know them, narrow ones where it computes nothing on them (strata.storage_cast,
/// what only records, what is between tokens and the like).
bool takes_memory(const Op& op);

/// A copy of the block with the same arguments and results in which every operation works on legal
/// types, but for those that read and write parts in memory (stablehlo.real, imag, complex,
/// strata.storage_cast) and those whose kernels take complex memory. Throws strata::Error
/// (unsupported) for an operation without a rule.
std::unique_ptr<Block> legalize(const Block& block);
/// One operation in legal types, for the reference evaluator: operands are the block's arguments.
std::unique_ptr<Block> legalize(const Op& op);
/// A region that uses nothing from outside, on the parts of its arguments and results.
std::unique_ptr<Block> legalize_region(const Block& region);

/// The operations that `op` stands for (`decompose`) as a block of its own.
std::unique_ptr<Block> decomposition(const Op& op);
/// The same on operands of these types: sizes that `op` leaves open may be known.
std::unique_ptr<Block> decomposition(const Op& op, std::span<const Type> operands);
/// Reference evaluation by the decomposition, for operations that are defined by it. Operands have
/// the sizes of their values, so a `decompose` that asks its operands for sizes, not the operation,
/// works on shapes that are known only at run time.
Literals evaluate_decomposed(const Op& op, std::span<const Literal> operands, Evaluator& evaluator);

}  // namespace strata::op
