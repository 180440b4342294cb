#include "strata/api/trace/shared_operands.h"

#include "strata/api/trace/function.h"

namespace strata::internal {

SharedOperands::SharedOperands(std::span<const Array> args,
                               std::initializer_list<const Program*> programs)
    : operands(args.begin(), args.end()), arguments(args.size()) {
  for (const Program* p : programs) {
    first.push_back(operands.size());
    append(operands, p->captured);
  }
}

op::BlockPtr SharedOperands::block(std::size_t k, const Program& program) const {
  auto out = std::make_unique<ir::Block>();
  add_arguments(*out, operands);
  ir::Builder b(*out);
  const ir::Values v = out->argument_values();
  out->results = ir::inline_block(
      b, *program.block, join_values(std::span(v).first(arguments), captured(v, k, program)));
  return out;
}

ir::Values join_values(std::span<ir::Value* const> a, std::span<ir::Value* const> b) {
  ir::Values out(a.begin(), a.end());
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

void add_arguments(ir::Block& block, std::span<const Array> arrays) {
  for (const Array& a : arrays) block.add_argument(a.type());
}

std::string list_types(const std::vector<Type>& types) {
  std::string out;
  for (const Type& t : types) out += (out.empty() ? "" : ", ") + describe(t);
  return "(" + out + ")";
}

}  // namespace strata::internal
