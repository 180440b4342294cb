#include "strata/op/testing/run.h"

#include <cmath>

#include "strata/op/evaluate.h"
#include "strata/op/lowered.h"

namespace strata::op::testing {

std::vector<Type> types_of(std::span<const Literal> literals) {
  std::vector<Type> types;
  for (const Literal& x : literals) types.push_back(x.type());
  return types;
}

std::unique_ptr<Block> build(const std::vector<Type>& arguments, const Program& program) {
  auto block = std::make_unique<Block>();
  for (const Type& type : arguments) block->add_argument(type);
  Builder b(*block);
  block->results = program(b, block->argument_values());
  return block;
}

Literals run(const Literals& arguments, const Program& program) {
  return evaluate(*build(types_of(arguments), program), arguments);
}

Literals run_both(const Literals& arguments, const Program& program) {
  auto block = build(types_of(arguments), program);
  const Op& op = *block->ops().back();
  Literals expected = evaluate(*block, arguments);
  STRATA_CHECK(op.operands == block->argument_values(),
               "the operation must take the arguments as they are");
  Literals actual = lowered(op, arguments);
  for (std::size_t i = 0; i < expected.size(); ++i)
    STRATA_CHECK(same(actual[i], expected[i]), "{}: reference {}, lowering {}", op.name(),
                 to_text(expected[i]), to_text(actual[i]));
  return expected;
}

Literals run_jvp(const Literals& arguments, const std::vector<std::optional<Literal>>& tangents,
                 const Program& program) {
  auto original = build(types_of(arguments), program);
  const Op& op = *original->ops().back();
  Literals all = arguments;
  for (const auto& t : tangents)
    if (t) all.push_back(*t);
  return run(all, [&](Builder& b, const Values& v) {
    Values operands(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(arguments.size())),
        given(arguments.size(), nullptr);
    auto next = v.begin() + static_cast<std::ptrdiff_t>(arguments.size());
    for (std::size_t i = 0; i < tangents.size(); ++i)
      if (tangents[i]) given[i] = *next++;
    JvpResult out = (*def(op).jvp)(b, op, operands, given);
    Values results = out.results;
    for (Value* t : out.tangents)
      if (t) results.push_back(t);
    return results;
  });
}

bool same(const Literal& a, const Literal& b) {
  if (a.type() != b.type()) return false;
  if (a.same_bits(b)) return true;
  std::size_t width = byte_width(a.dtype());
  for (std::int64_t i = 0; i < a.count(); ++i) {
    std::size_t at = static_cast<std::size_t>(i) * width;
    bool equal = std::memcmp(a.data() + at, b.data() + at, width) == 0;
    if (!equal && !(is_float(a.dtype()) && std::isnan(a.number(i)) && std::isnan(b.number(i))))
      return false;
  }
  return true;
}

std::string to_text(const Literal& x) {
  std::string out = x.type().to_string();
  for (std::int64_t i = 0; i < x.count(); ++i) out += fmt::format(" {}", x.number(i));
  return out;
}

}  // namespace strata::op::testing
