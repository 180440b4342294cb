// What operations on dynamic shapes share: all that they do is stated by a static operation once
// their shape operands are known (op/shape/refine.h).
#pragma once

#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"
#include "strata/op/shape/refine.h"
#include "strata/op/shape/refine_rules.h"

namespace strata::op {

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
/// For `needs`: the last operand, which holds the sizes of a result that does not state them.
std::vector<int> unstated_sizes(const Op& op);

/// Throws unless `v` holds `count` integers (any number where negative): a shape, or one number per
/// dimension.
void expect_shape_operand(std::string_view op, const char* what, const Value* v, int count);
/// Throws unless operand 0 and the result have one element type; `constraint` is what the
/// specification calls it.
void expect_element_type(const Op& op, const char* constraint);

}  // namespace strata::op
