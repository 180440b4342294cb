// Small graphs in tests: one function from literals to literals.
//
//   Literals y = run({x}, [](Builder& b, const Values& v) { return Values{op::exp(b, v[0])}; });
#pragma once

#include <functional>

#include "strata/op/def.h"

namespace strata::op::testing {

using Program = std::function<Values(Builder&, const Values&)>;

/// A block whose arguments have the types of `arguments` and whose results are what `program`
/// returns.
std::unique_ptr<Block> build(const std::vector<Type>& arguments, const Program& program);
std::vector<Type> types_of(std::span<const Literal> literals);
/// Builds and evaluates by the reference evaluator.
Literals run(const Literals& arguments, const Program& program);
/// The same where the last operation built is the one under test: also computed by its lowering,
/// which must agree bit for bit (NaN equals NaN). Returns the reference's results.
Literals run_both(const Literals& arguments, const Program& program);
/// Result r and its tangent by the operation's jvp rule, where the program is that one operation on
/// the arguments. An empty tangent literal (rank 0, default-constructed) stands for null.
Literals run_jvp(const Literals& arguments, const std::vector<std::optional<Literal>>& tangents,
                 const Program& program);
/// Equal dtypes, shapes and bits, but NaN equals NaN.
bool same(const Literal& a, const Literal& b);
/// "f32[3] 1 2 3", for messages.
std::string to_text(const Literal& x);

}  // namespace strata::op::testing
