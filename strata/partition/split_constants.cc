#include "strata/partition/split_constants.h"

#include <algorithm>
#include <unordered_map>

#include "strata/op/def.h"

namespace strata::spmd {
namespace {

using ir::Block;
using ir::Builder;
using ir::Op;
using ir::Value;
using ir::ValueMap;

class Splitter {
 public:
  void copy(const Block& from, Block& out, ValueMap& map) {
    for (const auto& a : from.arguments()) map.set(a.get(), out.add_argument(a->type(), a->hint()));
    Builder b(out);
    for (const auto& op : from.ops()) copy(*op, b, map);
    for (Value* v : from.results) out.results.push_back(value(v, b, map));
  }

 private:
  void copy(const Op& op, Builder& b, ValueMap& map) {
    if (is_constant(op)) {
      constants_[op.result()] = &op;
      if (op.result()->rank() > 0) return;  // copied to where it is used
    } else if (is_broadcast_scalar(op)) {
      copied_[op.result()] = &op;
      return;
    }
    ir::Values operands;
    b.set_location(op.where);
    for (Value* v : op.operands) operands.push_back(value(v, b, map));
    std::vector<std::unique_ptr<Block>> regions;
    for (const auto& r : op.regions)
      copy(*r, *regions.emplace_back(std::make_unique<Block>()), map);
    std::vector<Type> types;
    for (const Value* r : op.results()) types.push_back(r->type());
    b.set_location(op.where);
    Op& out = b.create(op.info(), operands, op.attrs, std::move(regions), std::move(types));
    for (int i = 0; i < op.num_results(); ++i) {
      out.result(i)->set_hint(op.result(i)->hint());
      map.set(op.result(i), out.result(i));
    }
  }

  /// The value that stands for `v` in the copy: of a constant one of its own.
  Value* value(Value* v, Builder& b, const ValueMap& map) {
    if (!is_copied(v)) return map(v);
    ValueMap own;
    return chain(v, b, map, own);
  }
  /// `own` holds what was copied for this use, and what of `map` that takes.
  Value* chain(Value* v, Builder& b, const ValueMap& map, ValueMap& own) {
    if (Value* made = own.find(v)) return made;
    if (!is_copied(v)) {
      own.set(v, map(v));
      return map(v);
    }
    const Op& op = *(constants_.count(v) > 0 ? constants_ : copied_).at(v);
    for (Value* operand : op.operands) chain(operand, b, map, own);
    return ir::clone(b, op, own).result();
  }
  bool is_copied(const Value* v) const {
    return (v->type().is_tensor() && v->rank() > 0 && constants_.count(v) > 0) ||
           copied_.count(v) > 0;
  }

  static bool may_be_cut(const Op& op) {
    return op.num_results() == 1 && op.result()->type().is_tensor() &&
           op.result()->shape().is_static() && op.regions.empty();
  }
  bool is_constant(const Op& op) const {
    if (!may_be_cut(op)) return false;
    if (op.name() == "stablehlo.constant" || op.name() == "stablehlo.iota") return true;
    if (op.operands.size() == 0 ||
        !(op.name() == "stablehlo.broadcast_in_dim" || op.name() == "stablehlo.reshape" ||
          op.name() == "stablehlo.slice" || op::def(op).traits.elementwise))
      return false;
    return std::all_of(op.operands.begin(), op.operands.end(),
                       [&](const Value* v) { return constants_.count(v) > 0; });
  }
  static bool is_broadcast_scalar(const Op& op) {
    return may_be_cut(op) && op.name() == "stablehlo.broadcast_in_dim" &&
           op.operand(0)->rank() == 0 && op.result()->rank() > 0;
  }

  // Of the original, by result; looked up only.
  std::unordered_map<const Value*, const Op*> constants_, copied_;
};

}  // namespace

std::unique_ptr<ir::Function> split_constants(const ir::Function& f) {
  auto out = std::make_unique<ir::Function>(f.name);
  out->is_public = f.is_public;
  out->has_visibility = f.has_visibility;
  out->attrs = f.attrs;
  out->arg_attrs = f.arg_attrs;
  out->result_attrs = f.result_attrs;
  ValueMap map;
  Splitter().copy(f.body, out->body, map);
  return out;
}

}  // namespace strata::spmd
