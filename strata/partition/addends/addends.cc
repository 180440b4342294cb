#include "strata/partition/addends/addends.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "strata/ir/graph.h"
#include "strata/op/control.h"
#include "strata/op/control/scan.h"
#include "strata/op/lowering_kind.h"
#include "strata/op/reduce/combiner.h"
#include "strata/op/rules.h"
#include "strata/partition/op_name.h"

namespace strata::spmd {
namespace {

using op::Builder;
using op::Op;
using op::Structured;
using op::Value;

bool has(const Axes& axes, int a) { return std::find(axes.begin(), axes.end(), a) != axes.end(); }
/// What a loop carries: where it comes in, what an iteration leaves, and the values within.
struct Carry {
  const Value *first, *next, *result;
  std::vector<const Value*> inside;
};
std::vector<Carry> carries_of(const Op& op) {
  std::vector<Carry> out;
  if (op::is_structured(op, Structured::Kind::while_))
    for (int i = 0; i < op.num_results(); ++i)
      out.push_back({op.operand(i),
                     op.region(1).results[static_cast<std::size_t>(i)],
                     op.result(i),
                     {op.region(0).argument(i), op.region(1).argument(i)}});
  if (op::is_structured(op, Structured::Kind::scan)) {
    const op::ScanParts s(op);
    for (std::size_t i = 0; i < s.carries; ++i) {
      const int at = static_cast<int>(s.consts + i), to = static_cast<int>(i);
      out.push_back(
          {op.operand(at), op.region(0).results[i], op.result(to), {op.region(0).argument(at)}});
    }
  }
  return out;
}

class Spread {
 public:
  explicit Spread(Plan& plan) : plan_(plan) {}

  void run(const op::Block& block) {
    ir::walk(block, [&](const Op& op) {
      for (const Value* v : op.operands) ++uses_[v];
      for (const Carry& c : carries_of(op)) carries_.emplace(c.result, c);
      for (const auto& region : op.regions)
        for (const Value* v : region->results) ++uses_[v];
    });
    for (const Value* v : block.results) ++uses_[v];
    ir::walk(block, [&](const Op& op) {
      if (op.name() != "sdy.sharding_constraint" && op.name() != "sdy.reshard") return;
      const auto said = plan_.addends.find(op.result());
      if (said != plan_.addends.end() && uses_[op.operand(0)] == 1 &&
          is_free(op.operand(0), said->second))
        plan_.addends.emplace(op.operand(0), said->second);
    });
    loops(block);
  }

 private:
  /// Outer loops first: what an inner one starts from may be what an outer one carries.
  void loops(const op::Block& block) {
    for (const auto& op : block.ops()) {
      for (const Carry& c : carries_of(*op)) {
        const Addends *first = known(c.first), *next = known(c.next);
        if (first == nullptr || next == nullptr || !same_addends(*first, *next) ||
            !is_free(c.result, *first)) {
          plan_.addends.erase(c.result);
          continue;
        }
        const Addends both = *first;
        plan_.addends[c.result] = both;
        for (const Value* v : c.inside) plan_.addends[v] = both;
      }
      for (const auto& region : op->regions) loops(*region);
    }
  }
  /// Whether the plan shards no dimension of the value over the addends' axes.
  bool is_free(const Value* v, const Addends& a) const {
    const auto layout = plan_.values.find(v);
    return layout == plan_.values.end() ||
           std::all_of(layout->second.dims.begin(), layout->second.dims.end(),
                       [&](const Axes& dim) { return disjoint(dim, a.axes); });
  }
  const Addends* known(const Value* v) const {
    if (auto it = plan_.addends.find(v); it != plan_.addends.end()) return &it->second;
    const auto loop = carries_.find(v);
    return loop == carries_.end() ? nullptr : known(loop->second.next);
  }

  Plan& plan_;
  std::unordered_map<const Value*, int> uses_;
  std::unordered_map<const Value*, Carry> carries_;
};

}  // namespace

bool same_addends(const Addends& a, const Addends& b) {
  return a.combiner == b.combiner && a.axes.size() == b.axes.size() && within(a.axes, b.axes);
}
bool within(const Axes& a, const Axes& b) {
  return std::all_of(a.begin(), a.end(), [&](int x) { return has(b, x); });
}
bool disjoint(const Axes& a, const Axes& b) {
  return std::none_of(a.begin(), a.end(), [&](int x) { return has(b, x); });
}

void spread_addends(const op::Block& block, Plan& plan) {
  if (!plan.addends.empty()) Spread(plan).run(block);
}

Kept kept_by(const Op& op, const std::vector<bool>& are_addends, op::Combiner combiner) {
  const std::string_view name = op.name();
  const auto n = std::count(are_addends.begin(), are_addends.end(), true);
  auto some = [&](bool good) { return good && n == 1 ? Kept::of_some : Kept::no; };
  // A factor may stand before the sum that it multiplies; indices are no addends.
  if (!are_addends[0])
    return name == "stablehlo.multiply" ? some(combiner == op::Combiner::add)
           : name == "stablehlo.add"    ? (combiner == op::Combiner::add ? Kept::of_all : Kept::no)
                                        : Kept::no;
  if (is_one_of(name, {"stablehlo.reshape", "stablehlo.transpose", "stablehlo.broadcast_in_dim",
                       "stablehlo.slice", "stablehlo.dynamic_slice", "stablehlo.reverse"}))
    return some(true);
  if (is_one_of(name, {"stablehlo.concatenate", "stablehlo.dynamic_update_slice"}))
    return Kept::of_all;
  if (name == "stablehlo.reduce" && are_addends.size() == 2)
    return some(op::combiner_of(op) == combiner && op::is_neutral(op.operand(1), combiner));
  switch (combiner) {
    case op::Combiner::max: return name == "stablehlo.maximum" ? Kept::of_all : Kept::no;
    case op::Combiner::min: return name == "stablehlo.minimum" ? Kept::of_all : Kept::no;
    case op::Combiner::add: break;
    default: return Kept::no;
  }
  const DType dtype = op.result()->dtype();
  if (is_one_of(name, {"stablehlo.add", "stablehlo.subtract"})) return Kept::of_all;
  if (name == "stablehlo.divide") return some(!is_integer(dtype));
  if (name == "stablehlo.convert") return some(is_float(op.operand(0)->dtype()) && is_float(dtype));
  return some(is_one_of(name, {"stablehlo.multiply", "stablehlo.negate"}));
}

Value* combine_addends(Builder& b, Emitter& emit, const Grid& grid, Value* x, const Type& whole,
                       Layout& layout, Addends addends, const Layout* to) {
  // Where the result is wanted cut by what is summed over, no device needs all of it.
  for (std::size_t d = 0; to != nullptr && d < to->dims.size(); ++d) {
    const Axes &now = layout.dims[d], &wanted = to->dims[d];
    if (now.size() > wanted.size() || !std::equal(now.begin(), now.end(), wanted.begin())) continue;
    Axes parts, after = now;
    for (std::size_t i = now.size(); i < wanted.size(); ++i) {
      if (!has(addends.axes, wanted[i])) break;
      after.push_back(wanted[i]);
      if (whole.shape()[static_cast<int>(d)] % grid.product(after) != 0) break;
      parts.push_back(wanted[i]);
    }
    if (parts.empty()) continue;
    x = emit.reduce_scatter(b, x, static_cast<int>(d), parts, addends.combiner);
    layout.dims[d].insert(layout.dims[d].end(), parts.begin(), parts.end());
    std::erase_if(addends.axes, [&](int a) { return has(parts, a); });
  }
  return emit.all_reduce(b, x, addends.axes, addends.combiner);
}

Value* to_addends(Builder& b, Emitter& emit, const Grid& grid, Value* x, const Type& whole,
                  const Layout& from, const Layout& to, const Addends& addends) {
  // Dimensions that are cut as wanted but for axes of the addends behind are put in their place.
  Layout owned = to;
  Axes left = addends.axes;
  for (std::size_t d = 0; d < to.dims.size(); ++d) {
    const Axes &now = from.dims[d], &wanted = to.dims[d];
    if (now.size() <= wanted.size() || !std::equal(wanted.begin(), wanted.end(), now.begin()))
      continue;
    const Axes more(now.begin() + static_cast<std::ptrdiff_t>(wanted.size()), now.end());
    const bool divides = whole.shape()[static_cast<int>(d)] % grid.product(now) == 0;
    if (!divides || std::any_of(more.begin(), more.end(), [&](int a) { return !has(left, a); }))
      continue;
    owned.dims[d] = now;
    std::erase_if(left, [&](int a) { return has(more, a); });
  }
  x = emit.reshard(b, x, whole, from, owned);
  auto nothing = [&](const Shape& shape) {
    return op::broadcast_to(b, op::constant(b, op::initial_value(addends.combiner, whole.dtype())),
                            shape);
  };
  if (!left.empty()) {
    Value* first = op::compare(b, emit.tile_begin(b, left, 1), op::scalar(b, DType::i32, 0), "EQ");
    x = op::select(b, first, x, nothing(x->shape()));
  }
  if (owned == to) return x;
  const Type local = local_type(grid, whole, to);
  op::Values starts;
  for (std::size_t d = 0; d < to.dims.size(); ++d) {
    const Axes &now = owned.dims[d], &wanted = to.dims[d];
    const Axes more(now.begin() + static_cast<std::ptrdiff_t>(wanted.size()), now.end());
    starts.push_back(more.empty() ? op::scalar(b, DType::i32, 0)
                                  : emit.tile_begin(b, more, x->shape()[static_cast<int>(d)]));
  }
  return op::dynamic_update_slice(b, nothing(local.shape()), x, starts);
}

}  // namespace strata::spmd
