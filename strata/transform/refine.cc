#include "strata/transform/refine.h"

#include "strata/base/error.h"
#include "strata/ir/pass/pass.h"

namespace strata::transform {

bool is_dynamic(const ir::Block& block) { return op::is_dynamic(block); }

std::unique_ptr<ir::Block> refine(const ir::Block& block, const std::vector<op::Known>& arguments) {
  std::unique_ptr<ir::Block> out = op::refine(block, arguments);
  ir::remove_dead(*out);
  return out;
}

std::unique_ptr<ir::Block> refine(const ir::Block& block, const std::vector<Literal>& arguments) {
  std::vector<op::Known> known;
  for (const Literal& a : arguments) known.push_back({a.type(), a});
  return transform::refine(block, known);  // not the op room's, which its types would bring in
}

void refine(ir::Module& module, const std::vector<Literal>& arguments, ir::Function* function) {
  ir::inline_calls(module);
  ir::Function* f = function ? function : module.entry();
  if (!f) throw Error("refine", "the module has no function");
  if (!is_dynamic(f->body)) return;
  std::unique_ptr<ir::Block> body = refine(f->body, arguments);
  std::vector<ir::Value*> old = f->body.argument_values();
  ir::ValueMap map;
  for (std::size_t i = 0; i < old.size(); ++i) {
    old[i]->set_type(arguments[i].type());
    map.set(body->argument(static_cast<int>(i)), old[i]);
  }
  f->body.ops().clear();
  f->body.results = map(body->results);
  for (auto& op : body->ops()) {
    op->operands = map(op->operands);
    for (auto& region : op->regions) ir::replace_uses(*region, map);
    f->body.append(std::move(op));
  }
  body->ops().clear();
}

}  // namespace strata::transform
