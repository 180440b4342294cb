// Dynamic shapes made static: what is known of a program's arguments runs through its operations.
//
// A shape that depends on integers (an operand of stablehlo.dynamic_reshape, say) is known where
// they are: small integer values are computed as far as arguments and constants determine them.
// Types are inferred again, and operations on dynamic shapes become those that they stand for there
// (`OpDef::decompose`, which finds what is known as constants).
#pragma once

#include <optional>

#include "strata/op/def.h"

namespace strata::op {

/// What is known of an argument: its type, and its elements where they are given.
struct Known {
  Type type;
  std::optional<Literal> value;
};

/// Whether elements of this type are looked at where they are known: a short list of integers.
bool may_be_shape(const Type& type);

/// The block for arguments of these types, every shape static; its arguments are as many as before.
/// Calls are inlined before. Throws strata::Error (unsupported) where a shape depends on what is
/// not known, and as inference does where shapes do not fit.
std::unique_ptr<Block> refine(const Block& block, const std::vector<Known>& arguments);

/// Whether a type has a dimension without a size, and whether any type in a block has.
bool is_dynamic(const Type& type);
bool is_dynamic(const Block& block);
/// Of an operation alone, its regions included.
bool is_dynamic(const Op& op);

/// Whether an operation, or any in a block, needs elements that no constant makes
/// (DynamicRow::needs, op/shape/dynamic.h): then it is compiled only for the values at hand, after
/// `refine`.
bool needs_values(const Op& op);
bool needs_values(const Block& block);

/// Reference evaluation of an operation as what it becomes for these operands.
Literals evaluate_refined(const Op& op, std::span<const Literal> operands, Evaluator& evaluator);

// ---- for the rules of operations on dynamic shapes ---------------------------------------------
/// The elements of an integer array that a constant makes.
std::optional<ir::Ints> known_integers(const Value* v);
/// The same; throws strata::Error (unsupported) where they are not known.
ir::Ints expect_known(std::string_view op, const char* what, const Value* v);
/// The result's shape where that is static, else the sizes that `sizes` holds.
Shape refined_shape(const Op& op, const Value* sizes);

}  // namespace strata::op
