// What operations tell refinement (op/shape/refine.h) of themselves, by their names.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "strata/op/def.h"

namespace strata::op {

/// Operands whose elements decide what the operation is stated by, as sizes and amounts of padding
/// do: only where they are known can it be compiled.
using Needs = std::vector<int> (*)(const Op&);

/// States it; called while the catalog is made.
void state_needs(const char* name, Needs needs);
/// `DynamicRow::needs` of any operation; null where none are needed.
Needs needs_of(const Op& op);

/// What refinement makes of an operation, given operands of which the known ones are constants;
/// nothing: what it makes of others.
using Refine = std::optional<Values> (*)(Builder&, const Op&, std::span<Value* const> operands);
/// Both for an operation that has a lowering, too; called while the catalog is made.
void refined_by(const char* name, Needs needs, Refine refine);
/// Null for all but those.
Refine refine_of(const Op& op);

}  // namespace strata::op
