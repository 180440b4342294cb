#include "strata/op/lowered.h"

#include <cstring>

#include "strata/loop/interpreter.h"
#include "strata/loop/verify.h"
#include "strata/op/lower_alone.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

/// Operands are parameters of the kernel.
class BufferContext : public LowerContext {
 public:
  BufferContext(loop::Builder& builder, std::span<const Literal> operands) : LowerContext(builder) {
    for (const Literal& x : operands) {
      refs_.push_back(builder.parameter(x.dtype(), x.count(), loop::Ref::Mode::in));
      sizes_.push_back(x.shape().sizes());
    }
  }
  loop::Inst* operand(const Op&, int i, std::span<const loop::Index> index) override {
    std::size_t n = static_cast<std::size_t>(i);
    return b.load(refs_[n], linearized(index, sizes_[n]));
  }
  std::span<loop::Ref* const> refs() const { return refs_; }

 private:
  std::vector<loop::Ref*> refs_;
  std::vector<std::vector<std::int64_t>> sizes_;
};

void run(const loop::Kernel& kernel, std::span<const Literal> operands,
         std::span<Literal> results) {
  Status valid = loop::verify(kernel);
  STRATA_CHECK(valid.ok(), "{}\n{}", valid.message(), loop::print(kernel));
  std::vector<void*> parameters;
  for (const Literal& x : operands) parameters.push_back(const_cast<std::byte*>(x.data()));
  for (Literal& y : results) parameters.push_back(y.mutable_data());
  loop::interpret(kernel, parameters);
}

Literals run_update(const Op& op, const Update& lowering, std::span<const Literal> operands) {
  Literals out;
  for (Value* r : op.results()) {
    const Literal& old = operands[static_cast<std::size_t>(r->index())];
    out.emplace_back(r->type());
    if (old.bytes() > 0) std::memcpy(out.back().mutable_data(), old.data(), old.bytes());
  }
  std::int64_t grid = lowering.grid(op);
  if (grid == 0) return out;
  loop::Kernel kernel("update");
  loop::Builder b(kernel);
  BufferContext context(b, operands);
  std::vector<loop::Ref*> targets;
  for (const Literal& y : out)
    targets.push_back(b.parameter(y.dtype(), y.count(), loop::Ref::Mode::inout));
  kernel.grid = grid;
  lowering.emit(context, op, targets, b.grid());
  run(kernel, operands, out);
  return out;
}

Literals run_whole(const Op& op, const CustomKernel& lowering, std::span<const Literal> operands) {
  Literals out;
  for (Value* r : op.results()) out.emplace_back(r->type());
  std::int64_t grid = lowering.grid(op);
  if (grid == 0) return out;
  loop::Kernel kernel("whole");
  loop::Builder b(kernel);
  BufferContext context(b, operands);
  std::vector<loop::Ref*> results;
  for (const Literal& y : out)
    results.push_back(b.parameter(y.dtype(), y.count(), loop::Ref::Mode::out));
  kernel.grid = grid;
  lowering.emit(context, op, context.refs(), results, b.grid());
  run(kernel, operands, out);
  return out;
}

}  // namespace

bool runs_alone(const Op& op) {
  const Lowering& l = def(op).lowering;
  return std::holds_alternative<Elementwise>(l) || std::holds_alternative<Update>(l) ||
         std::holds_alternative<CustomKernel>(l);
}

Literals lowered(const Op& op, std::span<const Literal> operands) {
  if (const Update* update = std::get_if<Update>(&def(op).lowering))
    return run_update(op, *update, operands);
  if (const CustomKernel* whole = std::get_if<CustomKernel>(&def(op).lowering))
    return run_whole(op, *whole, operands);
  Literals out;
  for (Value* r : op.results()) out.emplace_back(r->type());
  run(*lower_alone(op), operands, out);
  return out;
}

}  // namespace strata::op
