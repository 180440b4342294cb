#include <fmt/format.h>

#include "strata/ir/pass/pass.h"

namespace strata::ir {
namespace {

std::string free_name(const Module& module, const std::string& name) {
  std::string out = name;
  for (int i = 0; module.find(out); ++i) out = fmt::format("{}_{}", name, i);
  return out;
}

/// A private function that does what the region does.
Function& function_of(Module& module, const std::string& name, const Block& region) {
  Function& f = module.add(free_name(module, name));
  f.is_public = false;
  f.has_visibility = true;
  for (const auto& a : region.arguments()) f.body.add_argument(a->type(), a->hint());
  Builder b(f.body);
  f.body.results = inline_block(b, region, f.body.argument_values());
  return f;
}

class Outliner {
 public:
  explicit Outliner(Module& module) : module_(module) {}

  void block(Block& block) {
    ValueMap map;
    std::vector<std::unique_ptr<Op>> old = std::move(block.ops()), replaced;
    block.ops().clear();
    Builder b(block);
    for (auto& op : old) {
      op->operands = map(op->operands);
      for (auto& region : op->regions) replace_uses(*region, map);
      if (op->name() != "strata.composite") {
        for (auto& region : op->regions) this->block(*region);
        block.append(std::move(op));
        continue;
      }
      b.set_location(op->where);
      const Op& made = composite(b, *op);
      for (int i = 0; i < op->num_results(); ++i) map.set(op->result(i), made.result(i));
      replaced.push_back(std::move(op));  // its results are keys of the map until the end
    }
    block.results = map(block.results);
  }

 private:
  const Op& composite(Builder& b, const Op& op) {
    const std::string& name = op.attr<std::string>("name");
    Function& f = function_of(module_, name, op.region(0));
    block(f.body);
    std::vector<Type> results;
    for (const Value* v : op.results()) results.push_back(v->type());
    Attrs attrs = op.attrs;
    attrs.set("decomposition", Opaque{"@" + f.name});
    if (attrs.get<Opaque>("composite_attributes").text == "{}") attrs.erase("composite_attributes");
    if (attrs.get<std::int64_t>("version") == 0)
      attrs.erase("version");
    else
      attrs.set("version", Opaque{fmt::format("{} : i32", attrs.get<std::int64_t>("version"))});
    return b.create(*Registry::global().find("stablehlo.composite"), op.operands, std::move(attrs),
                    {}, std::move(results));
  }

  Module& module_;
};

}  // namespace

void outline_composites(Module& module) {
  Outliner outliner(module);
  for (std::size_t i = 0, n = module.functions.size(); i < n; ++i)
    outliner.block(module.functions[i]->body);
}

}  // namespace strata::ir
