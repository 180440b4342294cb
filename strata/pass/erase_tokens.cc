#include "strata/pass/erase_tokens.h"

namespace strata::pass {

bool erase_tokens(ir::Block& block) {
  bool changed = false;
  auto erase = [&](ir::Value* v) {
    if (!v->type().is_token()) return;
    v->set_type(Type(DType::ui8, {0}));
    changed = true;
  };
  for (ir::Value* v : block.argument_values()) erase(v);
  for (auto& op : block.ops()) {
    for (ir::Value* v : op->results()) erase(v);
    for (auto& region : op->regions) changed |= erase_tokens(*region);
  }
  return changed;
}

}  // namespace strata::pass
