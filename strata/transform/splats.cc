#include "strata/transform/splats.h"

#include <cstring>

#include "strata/op/build.h"

namespace strata::transform {
namespace {

constexpr std::int64_t kFew = 256;  // elements that may as well be looked at each time

const Literal* large_splat(const ir::Op& op) {
  if (!op.operands.empty() || op.num_results() != 1) return nullptr;
  const Type& type = op.result()->type();
  if (!type.is_tensor() || type.is_quantized() || !type.shape().is_static() || type.shape().count() <= kFew) return nullptr;
  const ir::Attr* attr = op.attrs.find("value");
  const Literal* literal = attr ? std::get_if<Literal>(attr) : nullptr;
  return literal && literal->type() == type && !is_complex(type.dtype()) && literal->is_splat() ? literal : nullptr;
}

}  // namespace

void shrink_splats(ir::Block& block) {
  ir::ValueMap map;
  std::vector<std::unique_ptr<ir::Op>> old = std::move(block.ops()), dead;  // kept until the end: the map knows them by address
  block.ops().clear();
  ir::Builder b(block);
  for (auto& op : old) {
    op->operands = map(op->operands);
    for (auto& region : op->regions) {
      ir::replace_uses(*region, map);
      shrink_splats(*region);
    }
    const Literal* literal = large_splat(*op);
    if (!literal) {
      block.append(std::move(op));
      continue;
    }
    b.set_location(op->where);
    Literal one(Type::scalar(literal->dtype()));
    std::memcpy(one.mutable_data(), literal->data(), byte_width(literal->dtype()));
    map.set(op->result(), op::broadcast_in_dim(b, op::constant(b, one), literal->shape(), {}));
    dead.push_back(std::move(op));
  }
  block.results = map(block.results);
}

}  // namespace strata::transform
