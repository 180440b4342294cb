#include "strata/api/sharding/varying.h"

#include <algorithm>
#include <unordered_map>

#include "strata/api/trace/trace.h"
#include "strata/op/collective/named_axis.h"

namespace strata::internal {
namespace {

using Sets = std::vector<AxisSet>;

class Varying {
 public:
  explicit Varying(const AxisSet& names) : names_(names) {}

  Sets results(const ir::Block& block, const Sets& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i)
      along_[block.argument(static_cast<int>(i))] = arguments[i];
    for (const auto& op : block.ops()) visit(*op);
    Sets out;
    for (const ir::Value* r : block.results) out.push_back(along_[r]);
    return out;
  }

 private:
  void visit(const ir::Op& op) {
    const std::string& name = op.name();
    if (name == "strata.scan") return scan(op);
    if (name == "stablehlo.while") return while_loop(op);
    if (name == "stablehlo.if" || name == "stablehlo.case") return branch(op);
    if (name == "strata.remat" || name == "strata.custom_jvp" || name == "strata.custom_vjp")
      return give(op, results(op.region(0), operands(op)));
    AxisSet all = together(op);
    if (name.starts_with("strata.axis_")) {
      if (op.operands.size() == 3) return give(op, {as_like(op)});
      over_axis(op, all);
    }
    give(op, Sets(static_cast<std::size_t>(op.num_results()), all));
  }

  /// Of axis_vary and axis_reduce with `like`: as x, or for axis_reduce as like where that varies
  /// less.
  AxisSet as_like(const ir::Op& op) {
    AxisSet out = along_[op.operand(0)];
    const std::string& axis = op.attr<std::string>("axis");
    if (op.name() == "strata.axis_reduce" && along_[op.operand(2)].count(axis) == 0)
      out.erase(axis);
    return out;
  }
  void over_axis(const ir::Op& op, AxisSet& all) {
    const std::string& axis = op.attr<std::string>("axis");
    if (names_.count(axis) == 0) return;
    const std::string& name = op.name();
    if (name == "strata.axis_vary" && along_[op.operand(0)].count(axis) > 0)
      throw Error("pcast", "{} varies along the mesh axis {} already",
                  describe(op.operand(0)->type()), axis)
          .at(op.where.text());
    if (name == "strata.axis_reduce" || op.attrs.has("known_same"))
      all.erase(axis);
    else
      all.insert(axis);
  }

  void scan(const ir::Op& op) {
    const auto consts = static_cast<std::size_t>(op.attr<std::int64_t>("num_consts")),
               carries = static_cast<std::size_t>(op.attr<std::int64_t>("num_carry"));
    give(op, settled(op.region(0), operands(op), consts, carries));
  }
  void while_loop(const ir::Op& op) {
    Sets carries = operands(op);
    for (bool changed = true; changed;) {
      const AxisSet stops = results(op.region(0), carries)[0];
      Sets next = settled(op.region(1), carries, 0, carries.size());
      for (AxisSet& each : next) each.insert(stops.begin(), stops.end());
      changed = next != carries;
      carries = std::move(next);
    }
    give(op, carries);
  }
  /// Results of a loop's body once its carries, which stand behind `first` arguments, vary along no
  /// more.
  Sets settled(const ir::Block& body, Sets arguments, std::size_t first, std::size_t carries) {
    while (true) {
      Sets out = results(body, arguments);
      bool changed = false;
      for (std::size_t i = 0; i < carries; ++i) {
        AxisSet& carry = arguments[first + i];
        const std::size_t before = carry.size();
        carry.insert(out[i].begin(), out[i].end());
        changed |= carry.size() != before;
        out[i] = carry;
      }
      if (!changed) return out;
    }
  }
  void branch(const ir::Op& op) {
    Sets out(static_cast<std::size_t>(op.num_results()), along_[op.operand(0)]);
    for (const auto& region : op.regions) {
      const Sets one = results(*region, {});
      for (std::size_t r = 0; r < out.size(); ++r) out[r].insert(one[r].begin(), one[r].end());
    }
    give(op, out);
  }

  Sets operands(const ir::Op& op) {
    Sets out;
    for (const ir::Value* v : op.operands) out.push_back(along_[v]);
    return out;
  }
  /// Of operands, and of what regions take from outside.
  AxisSet together(const ir::Op& op) {
    AxisSet out;
    for (const AxisSet& each : operands(op)) out.insert(each.begin(), each.end());
    for (const auto& region : op.regions)
      for (const ir::Value* v : ir::captures(*region))
        out.insert(along_[v].begin(), along_[v].end());
    return out;
  }
  void give(const ir::Op& op, const Sets& sets) {
    for (int r = 0; r < op.num_results(); ++r)
      along_[op.result(r)] = sets[static_cast<std::size_t>(r)];
  }

  const AxisSet& names_;
  std::unordered_map<const ir::Value*, AxisSet> along_;
};

/// Gathers over these axes give what varies.
void let_gathers_vary(ir::Block& block, const AxisSet& names) {
  for (const auto& op : block.ops()) {
    if (op->name() == "strata.axis_gather" && !op->attrs.has("known_same") &&
        names.count(op->attr<std::string>("axis")) > 0)
      op->attrs.set("varying", true);
    for (const auto& region : op->regions) let_gathers_vary(*region, names);
  }
}

bool is_gathered(const ir::Value& value, std::set<const ir::Value*>& seen) {
  const ir::Op* op = value.op();
  if (op == nullptr || !seen.insert(&value).second) return false;
  if (op->name() == "strata.axis_reduce") return false;
  if (op->name() == "strata.axis_gather") return !op->attrs.has("known_same");
  return std::any_of(op->operands.begin(), op->operands.end(),
                     [&](const ir::Value* v) { return is_gathered(*v, seen); });
}

}  // namespace

bool is_gathered(const ir::Value& value) {
  std::set<const ir::Value*> seen;
  return is_gathered(value, seen);
}

std::unique_ptr<ir::Block> with_followed_axes(
    const ir::Block& program, const std::vector<std::pair<std::string, std::int64_t>>& axes,
    const std::vector<bool>& gathered) {
  AxisSet names;
  for (const auto& [name, size] : axes) names.insert(name);
  const std::unique_ptr<ir::Block> inner = ir::clone(program);
  let_gathers_vary(*inner, names);
  auto out = std::make_unique<ir::Block>();
  ir::Values arguments, places;
  for (const auto& a : program.arguments()) arguments.push_back(out->add_argument(a->type()));
  for (std::size_t i = 0; i < axes.size(); ++i)
    places.push_back(out->add_argument(Type::scalar(DType::i32)));
  ir::Builder b(*out);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i]->type().is_tensor() || !is_inexact(arguments[i]->dtype())) continue;
    ir::Value* like = arguments[i];
    for (std::size_t a = 0; a < axes.size(); ++a)
      arguments[i] = op::axis_same_as(b, arguments[i], {axes[a].first, axes[a].second, places[a]},
                                      gathered[i] ? places[a] : like);
  }
  out->results = ir::inline_block(b, *inner, arguments);
  return out;
}

std::vector<AxisSet> varying_results(const ir::Block& block, const std::vector<AxisSet>& arguments,
                                     const AxisSet& names) {
  return Varying(names).results(block, arguments);
}

}  // namespace strata::internal
