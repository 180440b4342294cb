#include "strata/compile/fuse/grouped_block.h"

#include "strata/base/error.h"
#include "strata/compile/fuse/fusion_access.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Op;
using ir::Value;

const Block& expect_kernels_know(const Block& block) {
  auto expect = [](const std::string& name, const Value* v, const ir::Location& where) {
    bool known = v->type().is_tensor() && v->shape().is_static() && !v->type().is_quantized();
    if (!known)
      throw Error(name, "{} is not compiled yet; the reference evaluator may know it",
                  v->type().to_string())
          .at(where.text())
          .unsupported();
  };
  for (const auto& a : block.arguments()) expect("argument", a.get(), {});
  for (const auto& op : block.ops())
    for (const Value* v : op->results()) expect(op->name(), v, op->where);
  return block;
}

}  // namespace

GroupedBlock::GroupedBlock(const Block& b, const SharingLimits& limits)
    : block(b), fusion(choose_fusion(expect_kernels_know(b), limits)) {
  for (std::size_t g = 0; g < fusion.groups.size(); ++g)
    for (const Op* op : fusion.groups[g].roots) {
      for (const Value* v : reads(*op, fusion)) {
        last_read[v] = static_cast<int>(g);
        if (const Value* whole = sliced_by(v, fusion)) last_read[whole] = static_cast<int>(g);
      }
      for (const Value* v : op->results()) maker[v] = static_cast<int>(g);
    }
  for (const Value* v : b.results) last_read[v] = kForever;
}

const Value* sliced_by(const Value* v, const Fusion& fusion) {
  auto slice = fusion.slices.find(v);
  return slice == fusion.slices.end() ? nullptr : slice->second.of;
}

}  // namespace strata::compile
