#include "strata/api/transform/implicit.h"

#include "strata/api/trace/shared_operands.h"
#include "strata/op/control/implicit.h"

namespace strata::internal {
namespace {

std::vector<Type> types_of(std::span<const Array> arrays) {
  std::vector<Type> out;
  for (const Array& a : arrays) out.push_back(a.type());
  return out;
}

/// The results of a program begin with types like these, and end with them unless there may be
/// more.
void require_like(const char* name, const char* function, const Program& program,
                  std::span<const Array> like, bool more = false) {
  std::vector<Type> got = program.block->result_types(), want = types_of(like);
  if (more && got.size() > want.size()) got.resize(want.size());
  if (got != want)
    fail(name, "{} returns {}, expected {}", function, list_types(got), list_types(want));
}

void require_floats(const char* name, std::span<const Array> arrays) {
  for (const Array& a : arrays)
    if (!is_inexact(a.dtype())) fail(name, "floats are solved for, got {}", describe(a.type()));
}

op::BlockPtr tangent_block(const SharedOperands& shared, std::size_t k, const Program& program) {
  auto out = std::make_unique<ir::Block>();
  const std::span<const Array> all(shared.operands), solved = all.first(shared.arguments);
  add_arguments(*out, solved);
  add_arguments(*out, all);
  ir::Builder b(*out);
  const ir::Values v = out->argument_values();
  const std::span<ir::Value* const> values(v);
  out->results =
      ir::inline_block(b, *program.block,
                       join_values(values.first(2 * shared.arguments),
                                   shared.captured(values.subspan(shared.arguments), k, program)));
  return out;
}

ir::Values from(const ir::Values& v, std::size_t first) {
  return {v.begin() + static_cast<std::ptrdiff_t>(first), v.end()};
}
ir::Values until(const ir::Values& v, std::size_t last) {
  return {v.begin(), v.begin() + static_cast<std::ptrdiff_t>(last)};
}

}  // namespace

std::vector<Array> custom_root(const Program& f, const Program& solve, const Program& tangent_solve,
                               std::span<const Array> guess) {
  require_floats("custom_root", guess);
  require_like("custom_root", "f", f, guess);
  require_like("custom_root", "solve", solve, guess, true);
  require_like("custom_root", "tangent_solve", tangent_solve, guess);
  const SharedOperands shared(guess, {&f, &solve, &tangent_solve});
  return emit(
      shared.operands,
      [&](ir::Builder& b, const ir::Values& v) {
        return op::custom_root(
            b,
            {shared.block(1, solve), shared.block(0, f), tangent_block(shared, 2, tangent_solve)},
            until(v, guess.size()), from(v, guess.size()));
      },
      solve.weak);
}

void require_matvec(const Program& matvec, std::span<const Array> rhs) {
  require_floats("custom_linear_solve", rhs);
  require_like("custom_linear_solve", "matvec", matvec, rhs);
}

std::vector<Array> custom_linear_solve(const Program& matvec, const Program& solve,
                                       const Program* transpose_solve, const Program* vecmat,
                                       std::span<const Array> rhs) {
  const char* self = "custom_linear_solve";
  require_like(self, "solve", solve, rhs, true);
  if (transpose_solve) require_like(self, "transpose_solve", *transpose_solve, rhs, true);
  const Program none;
  const Program &transposed = transpose_solve ? *transpose_solve : none,
                &across = vecmat ? *vecmat : none;
  const SharedOperands shared(rhs, {&matvec, &solve, &transposed, &across});
  return emit(
      shared.operands,
      [&](ir::Builder& b, const ir::Values& v) {
        op::LinearSystem system{shared.block(1, solve), shared.block(0, matvec), nullptr, nullptr};
        if (transpose_solve)
          system.transpose_solve = shared.block(2, transposed),
          system.vecmat = shared.block(3, across);
        return op::custom_linear_solve(b, std::move(system), until(v, rhs.size()),
                                       from(v, rhs.size()));
      },
      solve.weak);
}

}  // namespace strata::internal
