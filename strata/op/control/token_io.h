// What infeed, outfeed, send and recv share: effects that a token orders. Two take tensors and a
// token and give a token, two take a token and give tensors and a token.
#pragma once

#include "strata/op/rules.h"

namespace strata::op::token_io {

/// Types of the results of one that gives tensors away. Throws unless (I1) inputs are tensors and
/// (I2) the last operand is a token.
std::vector<Type> infer_giving(const char* op, std::span<Value* const> operands);

/// Names of the constraints of one that brings tensors, as they stand behind its messages
/// (" (C1)"), empty where there is none.
struct Constraints {
  const char *some = "", *tensors = "", *token = "";
};
/// Throws unless the operand is a token (I1), and there are results, tensors but for the last,
/// which is a token.
void verify_bringing(const char* self, const Op& op, const Constraints& constraints);
/// What was brought as results, with a token behind it. Throws `otherwise` where the types are not
/// the results'.
Literals brought(const char* self, const Op& op, Literals values, const std::string& otherwise);

enum class Side { gives, brings };

/// `no_derivative`, `no_sharding`, `no_code`: the reasons for rules that are not there.
struct Description {
  ir::OpInfo info;
  const char* summary;
  Side side;
  Evaluate by_reference;
  None no_derivative, no_sharding, no_code;
};
OpDef definition(Description d);

}  // namespace strata::op::token_io
