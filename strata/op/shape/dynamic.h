// What operations on dynamic shapes share: all that they do is stated by a static operation once
// their shape operands are known (op/shape/refine.h).
#pragma once

#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"
#include "strata/op/shape/refine.h"

namespace strata::op {

/// Operands whose elements decide what the operation is stated by, as sizes and amounts of padding
/// do: only where they are known can it be compiled.
using Needs = std::vector<int> (*)(const Op&);

struct DynamicRow {
  const char* name;
  const char* summary;
  void (*verify)(const Op&);
  Decompose decompose;
  Needs needs = nullptr;
  const ir::TextFormat* text = nullptr;
  void (*quantized)(const Op&) = quantized::moved;
};
OpDef dynamic(const DynamicRow& row);
/// `DynamicRow::needs` of any operation; null where none are needed.
Needs needs_of(const Op& op);

/// What refinement makes of an operation, given operands of which the known ones are constants;
/// nothing: what it makes of others.
using Refine = std::optional<Values> (*)(Builder&, const Op&, std::span<Value* const> operands);
/// Both for an operation that has a lowering, too; called while the catalog is made.
void refined_by(const char* name, Needs needs, Refine refine);
/// Null for all but those.
Refine refine_of(const Op& op);

/// For `needs`: the last operand, which holds the sizes of a result that does not state them.
std::vector<int> unstated_sizes(const Op& op);

/// Throws unless `v` holds `count` integers (any number where negative): a shape, or one number per
/// dimension.
void expect_shape_operand(std::string_view op, const char* what, const Value* v, int count);
/// Throws unless operand 0 and the result have one element type; `constraint` is what the
/// specification calls it.
void expect_element_type(const Op& op, const char* constraint);

}  // namespace strata::op
