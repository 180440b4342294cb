#include "strata/api/transform/control.h"

#include "strata/api/trace/compose.h"
#include "strata/op/control.h"

namespace strata::internal {
namespace {

using op::BlockPtr;

/// A block of these argument types.
BlockPtr block_of(std::span<const Type> types) {
  auto block = std::make_unique<ir::Block>();
  for (const Type& t : types) block->add_argument(t);
  return block;
}

std::vector<Type> types_of(std::span<const Array> arrays) {
  std::vector<Type> out;
  for (const Array& a : arrays) out.push_back(a.type());
  return out;
}

Values join_values(Values a, std::span<Value* const> b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::span<Value* const> slice_of(const Values& v, std::size_t from, std::size_t count) {
  return std::span(v).subspan(from, count);
}

/// A region over `carries` that runs the program, whose captured arrays are values of the blocks
/// around.
BlockPtr region(const Program& program, std::span<const Type> carries,
                std::span<Value* const> captured) {
  BlockPtr block = block_of(carries);
  Builder b(*block);
  block->results =
      ir::inline_block(b, *program.block, join_values(block->argument_values(), captured));
  return block;
}

}  // namespace

std::vector<Type> element_types(std::span<const Array> xs, std::optional<std::int64_t>& length) {
  std::vector<Type> out;
  for (const Array& x : xs) {
    if (x.ndim() == 0) fail("scan", "xs have a first axis, got a scalar");
    const std::int64_t size = x.shape()[0];
    if (length && *length != size)
      fail("scan", "xs have different lengths: {} and {} ({})", *length, size, describe(x.type()));
    length = size;
    std::vector<Dim> dims = x.shape().dims();
    dims.erase(dims.begin());
    out.push_back(x.type().with(Shape(std::move(dims))));
  }
  if (!length) fail("scan", "there are no xs and no length");
  if (*length < 0) fail("scan", "the length is at least 0, got {}", *length);
  return out;
}

std::vector<Array> settle_carries(const char* name, std::span<const Array> init,
                                  const Program& body, const std::vector<std::string>& paths,
                                  bool& changed) {
  if (body.block->results.size() < init.size())
    fail(name, "the body returns {} arrays for {} carries", body.block->results.size(),
         init.size());
  std::vector<Array> out;
  for (std::size_t i = 0; i < init.size(); ++i) {
    const Type& before = init[i].type();
    const Type& after = body.block->results[i]->type();
    if (before == after) {
      out.push_back(init[i]);
      continue;
    }
    if (before.shape() != after.shape() || !init[i].weak())
      fail(name, "{} is {} before a step and {} after it; both must be the same", paths[i],
           describe(before), describe(after));
    changed = true;
    out.push_back(cast(init[i], {after.dtype(), body.weak[i]}));
  }
  return out;
}

std::vector<Array> scan(const Program& program, std::span<const Array> init,
                        std::span<const Array> xs, std::int64_t length, bool reverse) {
  const std::size_t nc = init.size(), nx = xs.size(), nk = program.captured.size();
  std::vector<Array> operands(init.begin(), init.end());
  append(operands, std::vector<Array>(xs.begin(), xs.end()));
  append(operands, program.captured);
  return emit(
      operands,
      [&](Builder& b, const Values& v) {
        // The operation's order is consts, carries, xs; the traced one carries, xs, consts.
        std::vector<Type> types;
        for (std::size_t i = 0; i < nk; ++i)
          types.push_back(program.block->argument(static_cast<int>(nc + nx + i))->type());
        for (std::size_t i = 0; i < nc + nx; ++i)
          types.push_back(program.block->argument(static_cast<int>(i))->type());
        BlockPtr body = block_of(types);
        Builder inner(*body);
        const Values arguments = body->argument_values();
        body->results = ir::inline_block(
            inner, *program.block,
            join_values(
                Values(arguments.begin() + static_cast<std::ptrdiff_t>(nk), arguments.end()),
                slice_of(arguments, 0, nk)));
        auto list = [](std::span<Value* const> s) { return Values(s.begin(), s.end()); };
        return op::scan(b, std::move(body), list(slice_of(v, nc + nx, nk)),
                        list(slice_of(v, 0, nc)), list(slice_of(v, nc, nx)),
                        {.length = length, .reverse = reverse});
      },
      program.weak);
}

std::vector<Array> while_loop(const Program& cond, const Program& body,
                              std::span<const Array> init) {
  if (cond.block->results.size() != 1)
    fail("while_loop", "the condition returns one boolean scalar, got {} arrays",
         cond.block->results.size());
  const Type& condition = cond.block->results[0]->type();
  if (condition != Type::scalar(DType::i1))
    fail("while_loop", "the condition returns a boolean scalar, got {}", describe(condition));
  if (body.block->results.size() != init.size())
    fail("while_loop", "the body returns {} arrays for {} carries", body.block->results.size(),
         init.size());
  std::vector<Array> operands(init.begin(), init.end());
  append(operands, cond.captured);
  append(operands, body.captured);
  const std::vector<Type> types = types_of(init);
  return emit(
      operands,
      [&](Builder& b, const Values& v) {
        const std::size_t n = init.size(), m = cond.captured.size();
        return op::while_(b, region(cond, types, slice_of(v, n, m)),
                          region(body, types, slice_of(v, n + m, body.captured.size())),
                          Values(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(n)));
      },
      body.weak);
}

std::vector<Array> branch(const Array& index, std::span<const Program* const> branches,
                          std::span<const Array> given) {
  std::vector<Array> operands{index};
  append(operands, std::vector<Array>(given.begin(), given.end()));
  std::vector<std::size_t> first_captured;
  for (const Program* p : branches) {
    first_captured.push_back(operands.size());
    append(operands, p->captured);
    const std::vector<Type> expected = branches[0]->block->result_types(),
                            got = p->block->result_types();
    if (got.size() != expected.size())
      fail("cond", "branches return {} and {} arrays", expected.size(), got.size());
  }
  // Weak results meet in a common dtype; strong ones must agree.
  std::vector<Type> results = branches[0]->block->result_types();
  std::vector<bool> weak = branches[0]->weak;
  for (std::size_t r = 0; r < results.size(); ++r) {
    for (const Program* p : branches) {
      const Type& got = p->block->results[r]->type();
      if (got.shape() != results[r].shape() ||
          (got.dtype() != results[r].dtype() && !weak[r] && !p->weak[r]))
        fail("cond", "result {} is {} in one branch and {} in another", r, describe(results[r]),
             describe(got));
      const WeakDType meet =
          promote({results[r].dtype(), weak[r]}, {got.dtype(), p->weak[r]}, x64_enabled());
      results[r] = results[r].with(meet.dtype);
      weak[r] = meet.weak;
    }
  }
  return emit(
      operands,
      [&](Builder& b, const Values& v) {
        std::vector<BlockPtr> regions;
        for (std::size_t k = 0; k < branches.size(); ++k) {
          const Values arguments = join_values(
              Values(v.begin() + 1, v.begin() + 1 + static_cast<std::ptrdiff_t>(given.size())),
              slice_of(v, first_captured[k], branches[k]->captured.size()));
          auto block = std::make_unique<ir::Block>();
          Builder inner(*block);
          block->results = ir::inline_block(inner, *branches[k]->block, arguments);
          for (std::size_t r = 0; r < results.size(); ++r)
            block->results[r] = op::convert(inner, block->results[r], results[r].dtype());
          regions.push_back(std::move(block));
        }
        if (is_bool(index.dtype())) {
          BlockPtr on_false = std::move(regions[0]);
          return op::if_(b, v[0], std::move(regions[1]), std::move(on_false));
        }
        Value* last = op::scalar(b, DType::i32, static_cast<double>(branches.size() - 1));
        Value* clamped =
            op::clamp(b, op::scalar(b, DType::i32, 0), op::convert(b, v[0], DType::i32), last);
        return op::case_(b, clamped, std::move(regions));
      },
      weak);
}

void check_structure(const char* name, const tree::Structure& before,
                     const tree::Structure& after) {
  if (before == after) return;
  fail(name, "the carry is {} before a step and {} after it; both must be the same (* is an array)",
       before.text(), after.text());
}

void check_branches(const char* name, const tree::Structure& one, const tree::Structure& other) {
  if (one == other) return;
  fail(name, "one branch returns {} and another {}; both must be the same (* is an array)",
       one.text(), other.text());
}

void check_predicate(const char* name, const Type& type) {
  if (type.rank() != 0) fail(name, "the predicate is a scalar, got {}", describe(type));
}

}  // namespace strata::internal
