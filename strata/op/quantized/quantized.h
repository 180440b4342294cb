// Quantised tensors: integers that stand for numbers, (q - zero_point) * scale (StableHLO,
// quantized types).
//
// An operation on quantised tensors is one of two kinds. What moves elements, carries values, or
// says so itself (Traits::moves_only, takes_quantized, regions) works on the stored integers. Every
// other one is dequantise, operate on the numbers of the expressed type, quantise: op/legalize.h
// rewrites it so, for reference evaluation and for the compiler alike; an operand that is not
// quantised (hybrid products, predicates) takes part as it is.
//
// Which types go together is a rule of each operation (ir::OpInfo::quantized); the usual ones are
// here.
#pragma once

#include "strata/op/def.h"

namespace strata::op {

/// Whether an operand or a result is quantised.
bool is_quantized(const Op& op);
/// Whether the operation works on the stored integers as they are.
bool takes_stored(const Op& op);

/// The numbers that stored integers stand for, of the expressed type; and back: divided by the
/// scale, clamped to the bounds of the storage, rounded to nearest even. `stored` is an array of
/// any integer type wide enough for `type`'s storage.
Value* dequantize(Builder& b, Value* stored, const Type& type);
Value* quantize(Builder& b, Value* number, const Type& type, DType stored);

namespace quantized {

/// Throws unless the parameters of a quantised type are sound: quantized types (C1) to (C13).
void expect_type(std::string_view op, const Type& type);
/// Whether types are equal but for shape, scales and zero points (baseline_element_type).
bool same_baseline(const Type& a, const Type& b);

// Rules for ir::OpInfo::quantized. Each checks every quantised type, then what the operation
// demands of plain types, on types of the expressed numbers or of the stored integers.

/// All floats among operands and results are quantised per tensor, with one baseline: abs,
/// multiply, compare, clamp ...
void baseline(const Op& op);
/// add: storage and expressed types agree; axes agree with the result's where there are any.
void sum(const Op& op);
/// Elements keep their parameters, which are those of the whole tensor: slice, gather, concatenate
/// ...
void moved(const Op& op);
/// The same, with an axis that moves: (C4) of transpose, (C6) of broadcast_in_dim, (C3) of reshape.
void transposed(const Op& op);
void broadcast(const Op& op);
void reshaped(const Op& op);
/// Between quantised and stored types of one width: bitcast_convert, constant.
void reinterpreted(const Op& op);
/// Types are compared as they are: control flow, tuples, channels; and those that take tensors
/// quantised as a whole: collectives, reductions by a region on quantised scalars.
void as_stated(const Op& op);
void per_tensor(const Op& op);
/// Products of lhs and rhs: (C14) lhs and result both quantised or neither, rhs is; (C17), (C18),
/// (C20) storage and expressed types agree; (C19) a result per axis only with a rhs per axis. The
/// numbers are dot_general's; a convolution's are 14 higher.
void product(const Op& op);
/// Convolutions: the same, and (C29), (C30): axes of rhs and of the result are their output feature
/// dimensions.
void convolution(const Op& op);

}  // namespace quantized
}  // namespace strata::op
