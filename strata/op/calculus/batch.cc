#include "strata/op/calculus/batch.h"

#include <unordered_set>

#include "strata/op/build.h"
#include "strata/op/calculus/closed.h"
#include "strata/op/calculus/support.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

void batch_op(Builder& b, const Op& op, std::int64_t size, ir::ValueMap& map,
              std::unordered_set<const Value*>& batched) {
  Closed closed(op);
  std::vector<bool> flags;
  for (Value* v : closed.op().operands) flags.push_back(batched.count(v) != 0);
  if (!any(flags)) {
    ir::clone(b, op, map);
    return;
  }
  Batched r = apply_batch(b, closed.op(), map(closed.op().operands), flags, size);
  for (int i = 0; i < op.num_results(); ++i) {
    map.set(op.result(i), r.results[static_cast<std::size_t>(i)]);
    if (r.batched[static_cast<std::size_t>(i)]) batched.insert(op.result(i));
  }
}

}  // namespace

Batched batch(Builder& b, const Block& f, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size, ir::ValueMap outer) {
  STRATA_CHECK(
      static_cast<int>(operands.size()) == f.num_arguments() && operands.size() == batched.size(),
      "{} operands and {} flags for a block of {} arguments", operands.size(), batched.size(),
      f.num_arguments());
  std::unordered_set<const Value*> is_batched;
  for (int i = 0; i < f.num_arguments(); ++i) {
    outer.set(f.argument(i), operands[static_cast<std::size_t>(i)]);
    if (batched[static_cast<std::size_t>(i)]) is_batched.insert(f.argument(i));
  }
  for (const auto& op : f.ops()) batch_op(b, *op, size, outer, is_batched);
  Batched out{outer(f.results), {}};
  for (Value* v : f.results) out.batched.push_back(is_batched.count(v) != 0);
  return out;
}

BatchedBlock batch(const Block& f, const std::vector<bool>& batched, std::int64_t size,
                   const std::vector<bool>& required) {
  BatchedBlock out{std::make_unique<Block>(), {}};
  Values operands;
  for (int i = 0; i < f.num_arguments(); ++i) {
    const Value* a = f.argument(i);
    operands.push_back(out.block->add_argument(
        batched[static_cast<std::size_t>(i)] ? with_leading(a->type(), size) : a->type(),
        a->hint()));
  }
  Builder b(*out.block);
  Batched r = batch(b, f, operands, batched, size);
  out.batched = either(r.batched, required);
  for (std::size_t i = 0; i < r.results.size(); ++i)
    if (out.batched[i]) r.results[i] = batched_operand(b, r.results[i], r.batched[i], size);
  out.block->results = std::move(r.results);
  ir::remove_dead(*out.block);
  return out;
}

Type without_leading(const Type& type) {
  STRATA_CHECK(type.rank() > 0, "no leading dimension in {}", type.to_string());
  Type out = type.with(Shape(part(type.shape().dims(), 1, type.shape().dims().size() - 1)));
  if (!type.is_quantized() || type.quantization()->axis <= 0) return out;
  Quantization q = *type.quantization();
  --q.axis;
  return out.with(std::move(q));
}

}  // namespace strata::op
