#include "strata/api/transform/graph.h"

#include "strata/api/trace/compose.h"
#include "strata/op/calculus/transpose.h"

namespace strata {
namespace {
std::string& scopes() {
  thread_local std::string names;
  return names;
}
}  // namespace

named_scope::named_scope(const std::string& name) : before_(scopes().size()) {
  scopes() += name + "/";
}
named_scope::~named_scope() { scopes().resize(before_); }
const std::string& named_scope::current() { return scopes(); }

namespace internal {

std::vector<Array> linear_transpose(const Program& program, const std::vector<Type>& arguments,
                                    std::span<const Array> cotangents) {
  const std::vector<Type> results = program.block->result_types();
  if (cotangents.size() != results.size())
    fail("linear_transpose", "{} cotangents are needed, got {}", results.size(), cotangents.size());
  for (const Type& t : arguments)
    if (!is_inexact(t.dtype()))
      fail("linear_transpose", "a function of {} is not linear", describe(t));
  std::vector<Array> operands;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (cotangents[i].shape() != results[i].shape())
      fail("linear_transpose", "result {} is {}, its cotangent {}", i, describe(results[i]),
           describe(cotangents[i].type()));
    operands.push_back(cast(cotangents[i], {results[i].dtype(), false}));
  }
  append(operands, program.captured);
  return emit(operands, [&](Builder& b, const Values& v) {
    const auto n = static_cast<std::ptrdiff_t>(results.size());
    Values inputs(arguments.size(), nullptr);
    inputs.insert(inputs.end(), v.begin() + n, v.end());
    std::vector<bool> linear(arguments.size(), true);
    linear.resize(inputs.size(), false);
    Values out = op::transpose(b, *program.block, inputs, linear, Values(v.begin(), v.begin() + n));
    out.resize(arguments.size());
    for (std::size_t i = 0; i < out.size(); ++i)
      if (!out[i]) out[i] = op::zeros(b, arguments[i]);
    return out;
  });
}

}  // namespace internal
}  // namespace strata
