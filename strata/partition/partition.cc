#include "strata/partition/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "strata/base/check.h"
#include "strata/base/error.h"
#include "strata/ir/pass/pass.h"
#include "strata/op/control.h"
#include "strata/op/control/scan.h"
#include "strata/op/lowering_kind.h"
#include "strata/op/reduce/combiner.h"
#include "strata/op/rules.h"
#include "strata/partition/addends/addends.h"
#include "strata/partition/addends/parts.h"
#include "strata/partition/choose_cut.h"
#include "strata/partition/halo.h"
#include "strata/partition/local.h"
#include "strata/partition/lookup.h"
#include "strata/partition/moving_slice.h"

namespace strata::spmd {
namespace {

using ir::Block;
using op::BlockPtr;
using op::Builder;
using op::Op;
using op::Structured;
using op::Value;
using op::Values;

bool is_between_processes(std::string_view name) {
  for (std::string_view n :
       {"stablehlo.all_gather", "stablehlo.all_reduce", "stablehlo.all_to_all",
        "stablehlo.collective_broadcast", "stablehlo.collective_permute",
        "stablehlo.collective_reduce", "stablehlo.cross-replica-sum", "stablehlo.reduce_scatter",
        "stablehlo.partition_id", "stablehlo.replica_id", "stablehlo.async_start",
        "stablehlo.async_done", "interpreter.run_parallel"})
    if (name == n) return true;
  return false;
}
/// What happens once for the program, not once for each device.
bool happens_once(std::string_view name) {
  for (std::string_view n :
       {"stablehlo.infeed", "stablehlo.outfeed", "stablehlo.send", "stablehlo.recv",
        "interpreter.probe", "interpreter.print", "check.expect_serialized_eq"})
    if (name == n) return true;
  return false;
}

class Partitioner : Parts {
 public:
  Partitioner(const Grid& grid, const Plan& plan, const PartitionOptions& options)
      : Parts(grid, plan, options) {}

  Partitioned run(const Block& whole) {
    Partitioned out;
    out.body = std::make_unique<Block>();
    for (const auto& a : whole.arguments()) {
      Layout layout = planned_or_whole(a.get());
      set(a.get(), out.body->add_argument(local_type(grid_, a->type(), layout), a->hint()), layout);
      out.arguments.push_back(std::move(layout));
    }
    ir::walk(whole, [&](const Op& op) { last_channel(op); });
    Builder b(*out.body);
    for (int i = 0; i < whole.num_arguments(); ++i)
      if (const Addends* a = addends(plan_.argument_addends, i)) {
        const Part given = part(whole.argument(i));
        arrive(b, whole.argument(i), given.local, given.layout, *a);
      }
    run_ops(whole, b);
    emit_.set_reason("result");
    for (std::size_t i = 0; i < whole.results.size(); ++i) {
      const Value* v = whole.results[i];
      bool fixed = i < plan_.results.size() && plan_.results[i];
      Layout layout = fixed ? *plan_.results[i] : part(v).layout;
      if (!can_be_cut(v->type())) layout = part(v).layout;
      const Addends* a = addends(plan_.result_addends, static_cast<int>(i));
      out.body->results.push_back(a ? as_addends(b, v, layout, *a) : in_layout(b, v, layout));
      out.results.push_back(std::move(layout));
    }
    ir::cse(*out.body);
    ir::remove_dead(*out.body);
    out.moves = emit_.moves();
    return out;
  }

 private:
  static const Addends* addends(const std::vector<Addends>& all, int i) {
    const auto at = static_cast<std::size_t>(i);
    return at < all.size() && !all[at].axes.empty() ? &all[at] : nullptr;
  }

  // ---- blocks ----------------------------------------------------------------------------------

  void run_ops(const Block& block, Builder& b) {
    for (const auto& op : block.ops()) {
      b.set_location(op->where);
      emit_.set_reason(
          op->where.empty() ? op->name() : fmt::format("{} at {}", op->name(), op->where.text()),
          op.get());
      visit(b, *op);
    }
  }

  /// The block on parts: arguments in the layouts given, results likewise (none: whole).
  /// What arguments and results are addends of stands in `addends`, by carry.
  BlockPtr run_region(const Block& block, const std::vector<Layout>& arguments,
                      const std::vector<Layout>& results, std::size_t consts = 0,
                      const std::vector<Addends>& carried = {}) {
    auto carry = [&](std::size_t i) { return i < carried.size() ? carried[i] : Addends(); };
    auto out = std::make_unique<Block>();
    for (int i = 0; i < block.num_arguments(); ++i) {
      Value* a = block.argument(i);
      const Layout& layout = arguments[static_cast<std::size_t>(i)];
      const auto at = static_cast<std::size_t>(i);
      set(a, out->add_argument(local_type(grid_, a->type(), layout), a->hint()), layout,
          at < consts ? Addends() : carry(at - consts));
    }
    Builder b(*out);
    run_ops(block, b);
    for (std::size_t i = 0; i < block.results.size(); ++i)
      out->results.push_back(entering(b, block.results[i], results[i], carry(i)));
    return out;
  }

  /// The regions of an operation that is computed by itself, with what they use from outside whole.
  std::vector<BlockPtr> regions_of(Builder& b, const Op& op) {
    std::vector<BlockPtr> out;
    for (const auto& region : op.regions) {
      ir::ValueMap map;
      for (Value* v : ir::captures(*region)) map.set(v, whole(b, v));
      out.push_back(ir::clone(*region, std::move(map)));
    }
    return out;
  }

  // ---- operations ------------------------------------------------------------------------------

  void visit(Builder& b, const Op& op) {
    const std::string& name = op.name();
    for (const Value* r : op.results())
      if (r->type().is_tensor() && !r->shape().is_static())
        throw Error("partition", "{} has the dynamic type {}", name, r->type().to_string())
            .at(op.where.text())
            .unsupported();
    if (grid_.devices() > 1 &&
        (happens_once(name) || (manual_axes_.empty() && is_between_processes(name))))
      throw Error("partition", "{} cannot be shared by {} devices", name, grid_.devices())
          .at(op.where.text())
          .unsupported();
    if (name == "sdy.sharding_group") return;
    if (name == "sdy.sharding_constraint" || name == "sdy.reshard" ||
        name == "sdy.propagation_barrier") {
      return constraint(b, op);
    }
    if (name == "stablehlo.optimization_barrier") return barrier(b, op);
    if (name == "sdy.manual_computation") return manual(b, op);
    if (name == "stablehlo.constant") return constant(b, op);
    if (name == "stablehlo.iota") return iota(b, op);
    if (op::is_structured(op, Structured::Kind::while_)) return while_(b, op);
    if (op::is_structured(op, Structured::Kind::case_)) return case_(b, op);
    if (op::is_structured(op, Structured::Kind::scan)) return scan(b, op);
    if (op::def(op).decompose == op::call_first_region && op.regions.size() > 0 &&
        op.region(0).num_arguments() == static_cast<int>(op.operands.size()))
      return call(b, op);
    keep(op);
    if (!on_parts(b, op)) on_whole(b, op);
    keep_none();
  }

  /// What is cut becomes addends where it is to be; what is whole stays so.
  void constraint(Builder& b, const Op& op) {
    const Part x = part(op.operand(0));
    const Addends* may = wanted(op.result());
    const bool makes = may != nullptr && x.addends.axes.empty() &&
                       std::any_of(x.layout.dims.begin(), x.layout.dims.end(),
                                   [&](const Axes& a) { return !disjoint(a, may->axes); });
    if (!makes) return place(b, op.result(), x.local, x.layout, x.addends);
    Layout to = planned_or_whole(op.result());
    Value* mine = as_addends(b, op.operand(0), to, *may);
    place(b, op.result(), mine, std::move(to), *may);
  }

  /// Operands pass with their shardings: two may be cut over one axis along dimensions of their
  /// own.
  void barrier(Builder& b, const Op& op) {
    Values locals;
    for (const Value* v : op.operands) locals.push_back(part(v).local);
    const Values out = op::optimization_barrier(b, locals);
    for (int i = 0; i < op.num_results(); ++i)
      place(b, op.result(i), out[static_cast<std::size_t>(i)], part(op.operand(i)).layout,
            part(op.operand(i)).addends);
  }

  void on_whole(Builder& b, const Op& op) {
    Values operands, results;
    for (const Value* v : op.operands) operands.push_back(whole(b, v));
    std::vector<Type> types;
    for (const Value* r : op.results()) types.push_back(r->type());
    ir::Attrs attrs = op.attrs;
    attrs.erase("sdy.sharding");
    Op& out = b.create(op.info(), operands, std::move(attrs), regions_of(b, op), types);
    for (int i = 0; i < op.num_results(); ++i)
      place(b, op.result(i), out.result(i), whole_of(op.result(i)));
  }

  bool on_parts(Builder& b, const Op& op) {
    if (!is_local(op)) return false;
    for (const Value* v : op.operands)
      if (!can_be_cut(v->type())) return false;
    for (const Value* v : op.results())
      if (!can_be_cut(v->type())) return false;
    std::vector<const Layout*> operands, results;
    for (const Value* v : op.operands) operands.push_back(&part(v).layout);
    for (const Value* v : op.results()) results.push_back(planned(v));
    std::optional<op::Combiner> combiner = combiner_of_parts(op, options_.exact);
    Cut cut = choose_cut(op, grid_, operands, results, combiner.has_value());
    for (Axes& a : cut.axes)
      if (kept()) std::erase_if(a, [&](int x) { return !disjoint({x}, kept()->axes); });
    if (on_scattered_sum(b, op, cut)) return true;
    if (on_owned_rows(b, op, cut) || on_owned_slice(b, op, cut) || on_windows(b, op, cut))
      return true;
    if (cut.is_whole()) return false;
    Axes summed;
    for (std::size_t f = 0; f < cut.axes.size(); ++f)
      if (cut.factors.kinds[f] == 'r')
        summed.insert(summed.end(), cut.axes[f].begin(), cut.axes[f].end());
    std::vector<Type> types;
    for (int i = 0; i < op.num_results(); ++i)
      types.push_back(local_type(grid_, op.result(i)->type(),
                                 cut.layout(cut.factors.results[static_cast<std::size_t>(i)])));
    ir::Attrs attrs = local_attrs(op, grid_, cut);
    if (!summed.empty()) return on_parts_of_sum(b, op, cut, summed, *combiner, std::move(attrs));
    Values locals;
    for (std::size_t i = 0; i < op.operands.size(); ++i)
      locals.push_back(in_layout(b, op.operands[i], cut.layout(cut.factors.operands[i])));
    std::vector<BlockPtr> regions = regions_of(b, op);
    if (!fits(op, locals, attrs, regions, types)) return false;
    Op& out = b.create(op.info(), locals, std::move(attrs), std::move(regions), types);
    for (int i = 0; i < op.num_results(); ++i)
      place(b, op.result(i), out.result(i),
            cut.layout(cut.factors.results[static_cast<std::size_t>(i)]));
    return true;
  }

  /// Whether no factor is cut over any of the axes.
  static bool is_free(const Cut& cut, const Axes& axes) {
    for (const Axes& used : cut.axes)
      for (int a : used)
        if (std::count(axes.begin(), axes.end(), a) > 0) return false;
    return true;
  }

  /// A gather or scatter that looks up along a dimension that is cut, where that moves less than
  /// the operand.
  bool on_owned_rows(Builder& b, const Op& op, const Cut& cut) {
    std::optional<Lookup> lookup = lookup_of(op);
    if (!lookup) return false;
    auto dim = static_cast<std::size_t>(lookup->dim);
    const Layout* to = lookup->is_gather ? nullptr : planned(op.result());
    Axes owners = (to != nullptr ? *to : part(op.operand(0)).layout).dims[dim];
    if (owners.empty() || !is_free(cut, owners)) return false;
    Layout operand = cut.layout(cut.factors.operands[0]),
           result = cut.layout(cut.factors.results[0]);
    operand.dims[dim] = owners;
    if (!lookup->is_gather) result.dims[dim] = owners;
    Type type = local_type(grid_, op.result()->type(), result);
    Type table = local_type(grid_, op.operand(0)->type(), operand);
    auto others = static_cast<std::size_t>(grid_.product(owners) - 1);
    if (lookup->is_gather && 2 * type.bytes() > table.bytes() * others) return false;
    ir::Attrs attrs = local_attrs(op, grid_, cut);
    Value* x = in_layout(b, op.operand(0), operand);
    Value* indices = in_layout(b, op.operand(1), cut.layout(cut.factors.operands[1]));
    LocalIndices at = local_indices(b, emit_, grid_, indices, op.operand(0)->shape()[lookup->dim],
                                    owners, lookup->is_gather);
    Values operands{x, at.indices};
    if (!lookup->is_gather)
      operands.push_back(in_layout(b, op.operand(2), cut.layout(cut.factors.operands[2])));
    Value* out =
        b.create(op.info(), operands, std::move(attrs), regions_of(b, op), {type}).result();
    if (lookup->is_gather) {
      bool is_bool = op.result()->dtype() == DType::i1;
      out = emit_.all_reduce(b, rows_inside(b, out, at.inside, *lookup), owners,
                             is_bool ? op::Combiner::or_ : op::Combiner::add);
    }
    place(b, op.result(), out, result);
    return true;
  }

  /// A slice or update at a place known at run time, along the one dimension that is cut.
  bool on_owned_slice(Builder& b, const Op& op, const Cut& cut) {
    std::vector<int> moving = moving_dims(op);
    if (moving.empty()) return false;
    bool is_update = op.name() == "stablehlo.dynamic_update_slice";
    const Type& type = op.operand(0)->type();
    if (!is_update && (is_complex(type.dtype()) || !has_storage(type.dtype()))) return false;
    const Layout& have = part(op.operand(0)).layout;
    const Layout* to = is_update ? planned(op.result()) : nullptr;
    int dim = -1;
    for (int d : moving)
      if (!(to != nullptr ? *to : have).dims[static_cast<std::size_t>(d)].empty()) {
        if (dim >= 0) return false;
        dim = d;
      }
    if (dim < 0) return false;
    auto at = static_cast<std::size_t>(dim);
    const Axes& owners = (to != nullptr ? *to : have).dims[at];
    const Type& window = is_update ? op.operand(1)->type() : op.result()->type();
    std::int64_t tiles = grid_.product(owners);
    if (!is_free(cut, owners) || window.shape().count() == 0) return false;
    if (!is_update && 2 * window.shape()[dim] * tiles > type.shape()[dim] * (tiles - 1))
      return false;
    Layout operand = cut.layout(cut.factors.operands[0]);
    operand.dims[at] = owners;
    Value* x = in_layout(b, op.operand(0), operand);
    Values starts;
    for (std::size_t i = is_update ? 2 : 1; i < op.operands.size(); ++i)
      starts.push_back(whole(b, op.operands[i]));
    OwnedPart owned{x, dim, type.shape()[dim], owners};
    if (is_update) {
      Value* update = in_layout(b, op.operand(1), cut.layout(cut.factors.operands[1]));
      place(b, op.result(), updated_part(b, emit_, owned, update, starts), operand);
      return true;
    }
    Layout result = cut.layout(cut.factors.results[0]);
    Shape sizes = local_type(grid_, op.result()->type(), result).shape();
    place(b, op.result(), slice_of_parts(b, emit_, owned, starts, sizes.sizes()), result);
    return true;
  }

  /// An operation that reads near the place it writes, on parts along the dimensions in which it
  /// moves: rows come from neighbours, where these are less than all others.
  bool on_windows(Builder& b, const Op& op, const Cut& cut) {
    std::vector<MovedDim> moved = moved_dims(op, cut.factors);
    if (moved.empty()) return false;
    for (std::size_t f = 0; f < cut.axes.size(); ++f)
      if (cut.factors.kinds[f] == 'r' && !cut.axes[f].empty()) return false;
    bool joins = op.name() == "stablehlo.concatenate";
    std::size_t arrays = joins                                    ? op.operands.size()
                         : op.name() == "stablehlo.reduce_window" ? op.operands.size() / 2
                                                                  : 1;
    const Layout* to = planned(op.result());
    std::vector<Layout> layouts;
    for (std::size_t i = 0; i < op.operands.size(); ++i)
      layouts.push_back(cut.layout(cut.factors.operands[i]));
    Layout result = cut.layout(cut.factors.results[0]);
    std::vector<MovedDim> chosen;
    for (const MovedDim& d : moved) {
      auto from = static_cast<std::size_t>(d.operand), at = static_cast<std::size_t>(d.result);
      const Axes owners = to != nullptr ? to->dims[at] : part(op.operand(0)).layout.dims[from];
      std::int64_t tiles = grid_.product(owners), size = op.result()->shape()[d.result];
      if (owners.empty() || size == 0 || !is_free(cut, owners)) continue;
      if (std::any_of(owners.begin(), owners.end(), [&](int a) { return result.uses(a); }))
        continue;
      bool is_worth_it = true;
      for (std::size_t i = 0; i < arrays && is_worth_it; ++i) {
        std::int64_t rows = op.operands[i]->shape()[d.operand];
        std::optional<WindowRead> read =
            window_read(op, d, static_cast<int>(i), (size + tiles - 1) / tiles);
        is_worth_it = read.has_value() && (rows > 0 || joins);
        if (!is_worth_it || rows == 0 || part(op.operands[i]).layout.dims[from] != owners) continue;
        std::int64_t others = (rows + tiles - 1) / tiles * (tiles - 1);
        is_worth_it = rows_received(*read, rows, tiles) < others;
        layouts[i].dims[from] = owners;
      }
      if (!is_worth_it) {
        for (std::size_t i = 0; i < arrays; ++i) layouts[i].dims[from].clear();
        continue;
      }
      result.dims[at] = owners;
      chosen.push_back(d);
    }
    if (chosen.empty()) return false;
    Shape local = local_shape(grid_, op.result()->shape(), result);
    ir::Attrs attrs = local_attrs(op, grid_, cut);
    Values locals;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      locals.push_back(in_layout(b, op.operands[i], layouts[i]));
      if (i >= arrays) continue;
      Value* padding = nullptr;
      if (op.name() == "stablehlo.reduce_window") padding = whole(b, op.operands[arrays + i]);
      if (op.name() == "stablehlo.pad") padding = whole(b, op.operands[1]);
      if (op.name() == "stablehlo.convolution")
        padding = op::constant(b, Literal(Type::scalar(op.operands[i]->dtype())));
      for (const MovedDim& d : chosen) {
        std::int64_t size = op.operands[i]->shape()[d.operand], rows = local[d.result];
        if (size == 0) continue;
        bool is_whole = layouts[i].dims[static_cast<std::size_t>(d.operand)].empty();
        locals[i] = read_window(b, emit_, grid_, locals[i], size, d.operand,
                                result.dims[static_cast<std::size_t>(d.result)], is_whole,
                                *window_read(op, d, static_cast<int>(i), rows), padding);
      }
    }
    for (const MovedDim& d : chosen) set_local_window(attrs, op, d, local[d.result]);
    if (joins) {
      place(b, op.result(), joined_parts(b, emit_, grid_, op, locals, chosen[0].result, result),
            result);
      return true;
    }
    std::vector<Type> types;
    for (const Value* r : op.results()) types.push_back(local_type(grid_, r->type(), result));
    Op& out = b.create(op.info(), locals, std::move(attrs), regions_of(b, op), types);
    for (int i = 0; i < op.num_results(); ++i) place(b, op.result(i), out.result(i), result);
    return true;
  }

  /// Whether the operation on parts gives the parts of its results, as far as its own inference
  /// knows.
  static bool fits(const Op& op, const Values& operands, const ir::Attrs& attrs,
                   const std::vector<BlockPtr>& regions, const std::vector<Type>& types) {
    if (!op.info().infer || op.info().verify) return true;  // stated types
    try {
      return op.info().infer(operands, attrs, regions) == types;
    } catch (const Error&) {
      return false;
    }
  }

  /// A reduction or product of which reduced dimensions are cut over `summed`.
  bool on_parts_of_sum(Builder& b, const Op& op, const Cut& cut, const Axes& summed,
                       op::Combiner combiner, ir::Attrs attrs) {
    bool is_reduce = op.name() == "stablehlo.reduce";
    const Type& result = op.result()->type();
    DType wide = op::accumulator(result.dtype());
    Values locals;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const auto& dims = cut.factors.operands[i];
      Value* x = in_layout(b, op.operands[i], cut.layout(dims));
      if (is_reduce && i == 0) x = op::convert(b, x, wide);
      for (std::size_t d = 0; d < dims.size(); ++d)
        for (int f : dims[d]) {
          auto at = static_cast<std::size_t>(f);
          if (cut.factors.kinds[at] != 'r' || cut.axes[at].empty()) continue;
          Value* nothing = op::constant(b, is_reduce ? op::initial_value(combiner, x->dtype())
                                                     : Literal(Type::scalar(x->dtype())));
          x = emit_.masked(b, x, static_cast<int>(d), cut.factors.sizes[at], cut.axes[at], nothing);
        }
      locals.push_back(x);
    }
    Layout layout = cut.layout(cut.factors.results[0]);
    Type type = local_type(grid_, result, layout);
    Value* init = nullptr;
    if (is_reduce) {
      if (!op::is_neutral(op.operands[1], combiner)) init = op::convert(b, locals[1], wide);
      locals[1] = op::constant(b, op::initial_value(combiner, wide));
    }
    Value* sums = b.create(op.info(), locals, std::move(attrs), {}, {type.with(wide)}).result();
    Addends apart;
    Axes left;
    const Addends* may = init == nullptr ? wanted(op.result()) : nullptr;
    for (int a : summed)
      (may != nullptr && may->combiner == combiner && !kept() && !disjoint({a}, may->axes)
           ? apart.axes
           : left)
          .push_back(a);
    apart.combiner = combiner;
    sums = combine_addends(b, emit_, grid_, sums, result, layout, {left, combiner},
                           planned(op.result()));
    if (init != nullptr)
      sums = op::combined(b, combiner, op::broadcast_in_dim(b, init, sums->shape(), {}), sums);
    place(b, op.result(), op::convert(b, sums, result.dtype()), layout, apart);
    return true;
  }

  /// A scatter of which devices have updates of their own: its result may be addends, or is their
  /// sum where that moves less than the updates (a table's gradient by tokens on many devices).
  bool on_scattered_sum(Builder& b, const Op& op, Cut cut) {
    if (op.name() != "stablehlo.scatter" || op.operands.size() != 3 || op::assigns(op) || kept())
      return false;
    const Addends* may = wanted(op.result());
    const bool adds = op::combiner_of(op) == op::Combiner::add && is_float(op.result()->dtype()) &&
                      !options_.exact;
    if (may != nullptr && op::combiner_of(op) != may->combiner) may = nullptr;
    if (may == nullptr && !adds) return false;
    Addends made{{}, may != nullptr ? may->combiner : op::Combiner::add};
    const auto& updates = cut.factors.operands[2];
    for (std::size_t d = 0; d < updates.size(); ++d) {
      Axes axes = part(op.operand(2)).layout.dims[d];
      // Axes that the table is cut over are its own.
      if (may == nullptr)
        axes.erase(
            std::find_if(axes.begin(), axes.end(), [&](int a) { return !is_free(cut, Axes{a}); }),
            axes.end());
      if (axes.empty() || updates[d].size() != 1) continue;
      if (may != nullptr && !within(axes, may->axes)) continue;
      const auto f = static_cast<std::size_t>(updates[d][0]);
      const auto& indices = cut.factors.operands[1];
      const bool is_row = std::count(indices.begin(), indices.end(), updates[d]) == 1;
      if (cut.factors.kinds[f] != 'n' || !is_row || !is_free(cut, axes) ||
          cut.factors.sizes[f] % grid_.product(axes) != 0)
        continue;
      cut.axes[f] = axes;
      made.axes.insert(made.axes.end(), axes.begin(), axes.end());
    }
    if (made.axes.empty()) return false;
    const Layout table = cut.layout(cut.factors.operands[0]);
    const Type result = local_type(grid_, op.result()->type(), table);
    if (may == nullptr) {
      const Type each = local_type(grid_, op.operand(2)->type(), cut.layout(updates));
      const auto others = static_cast<std::size_t>(grid_.product(made.axes));
      if (2 * result.bytes() >= each.bytes() * others) return false;
    }
    Values locals{as_addends(b, op.operand(0), table, made)};
    for (std::size_t i = 1; i < 3; ++i)
      locals.push_back(in_layout(b, op.operands[i], cut.layout(cut.factors.operands[i])));
    Value* sums =
        b.create(op.info(), locals, local_attrs(op, grid_, cut), regions_of(b, op), {result})
            .result();
    Layout layout = table;
    if (may == nullptr) {
      sums = combine_addends(b, emit_, grid_, sums, op.result()->type(), layout, made,
                             planned(op.result()));
      made = {};
    }
    place(b, op.result(), sums, layout, made);
    return true;
  }

  void constant(Builder& b, const Op& op) {
    const Literal& value = op.attr<Literal>("value");
    const Layout* to = planned(op.result());
    if (to == nullptr || to->is_whole() || !value.is_splat() || value.count() == 0)
      return on_whole(b, op);
    Literal part = Literal::splat(local_type(grid_, value.type(), *to), value.element(0));
    set(op.result(), op::constant(b, part), *to);
  }

  /// Places counted from the device's first one.
  void iota(Builder& b, const Op& op) {
    const Layout* to = planned(op.result());
    int dim = static_cast<int>(op.attr<std::int64_t>("iota_dimension"));
    const Type& type = op.result()->type();
    bool counts =
        is_integer(type.dtype()) && byte_width(type.dtype()) >= 4 && has_storage(type.dtype());
    if (to == nullptr || to->is_whole() ||
        !(counts || to->dims[static_cast<std::size_t>(dim)].empty()))
      return on_whole(b, op);
    Type part = local_type(grid_, type, *to);
    Value* x = op::iota(b, part, dim);
    const Axes& axes = to->dims[static_cast<std::size_t>(dim)];
    if (!axes.empty()) {
      Value* start = op::convert(b, emit_.tile_begin(b, axes, part.shape()[dim]), type.dtype());
      x = op::add(b, x, op::broadcast_in_dim(b, start, part.shape(), {}));
    }
    set(op.result(), x, *to);
  }

  // ---- operations with regions -----------------------------------------------------------------

  void call(Builder& b, const Op& op) {
    const Block& body = op.region(0);
    for (int i = 0; i < body.num_arguments(); ++i) {
      const Part x = part(op.operand(i));
      set(body.argument(i), x.local, x.layout, x.addends);
      if (const Layout* to = planned(body.argument(i)); to != nullptr && *to != x.layout)
        set(body.argument(i), in_layout(b, op.operand(i), *to), *to);
    }
    run_ops(body, b);
    for (int i = 0; i < op.num_results(); ++i) {
      const Part x = part(body.results[static_cast<std::size_t>(i)]);
      place(b, op.result(i), x.local, x.layout, x.addends);
    }
  }

  void while_(Builder& b, const Op& op) {
    settle_captures(b, op);
    std::vector<Layout> layouts;
    std::vector<Addends> carried;
    Values carries;
    for (int i = 0; i < op.num_results(); ++i) {
      const Addends* a = wanted(op.result(i));
      layouts.push_back(planned_or_whole(op.result(i)));
      carried.push_back(a ? *a : Addends());
      carries.push_back(entering(b, op.operand(i), layouts.back(), carried.back()));
    }
    BlockPtr cond = run_region(op.region(0), layouts, {Layout()}, 0, carried);
    BlockPtr body = run_region(op.region(1), layouts, layouts, 0, carried);
    Values out = op::while_(b, std::move(cond), std::move(body), std::move(carries));
    for (std::size_t i = 0; i < layouts.size(); ++i)
      set(op.result(static_cast<int>(i)), out[i], layouts[i], carried[i]);
  }

  void case_(Builder& b, const Op& op) {
    settle_captures(b, op);
    std::vector<Layout> layouts;
    for (const Value* r : op.results()) layouts.push_back(planned_or_whole(r));
    Value* chosen = whole(b, op.operand(0));
    std::vector<BlockPtr> branches;
    for (const auto& region : op.regions) branches.push_back(run_region(*region, {}, layouts));
    Values out = b.create(op.info(), {chosen}, op.attrs, std::move(branches)).results();
    for (int i = 0; i < op.num_results(); ++i)
      set(op.result(i), out[static_cast<std::size_t>(i)], layouts[static_cast<std::size_t>(i)]);
  }

  void scan(Builder& b, const Op& op) {
    settle_captures(b, op);
    op::ScanParts s(op);
    std::vector<Layout> arguments, results;
    std::vector<Addends> carried;
    Values operands;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const Value* v = op.operands[i];
      bool is_carry = i >= s.consts && i < s.consts + s.carries;
      Layout layout =
          is_carry ? planned_or_whole(op.result(static_cast<int>(i - s.consts))) : part(v).layout;
      if (i >= s.consts + s.carries) layout.dims[0].clear();
      const Addends* a = is_carry ? wanted(op.result(static_cast<int>(i - s.consts))) : nullptr;
      if (is_carry) carried.push_back(a ? *a : Addends());
      operands.push_back(entering(b, v, layout, a ? *a : Addends()));
      if (i >= s.consts + s.carries) layout.dims.erase(layout.dims.begin());
      arguments.push_back(std::move(layout));
    }
    for (int i = 0; i < op.num_results(); ++i) {
      Layout layout = planned_or_whole(op.result(i));
      if (static_cast<std::size_t>(i) >= s.carries) layout.dims.erase(layout.dims.begin());
      results.push_back(std::move(layout));
    }
    std::int64_t times = emit_.times();
    emit_.set_times(times * s.length);
    std::vector<BlockPtr> body;
    body.push_back(run_region(op.region(0), arguments, results, s.consts, carried));
    emit_.set_times(times);
    Op& out = b.create(op.info(), operands, op.attrs, std::move(body));
    for (int i = 0; i < op.num_results(); ++i) {
      Layout layout = results[static_cast<std::size_t>(i)];
      const auto at = static_cast<std::size_t>(i);
      if (at >= s.carries) layout.dims.insert(layout.dims.begin(), Axes{});
      place(b, op.result(i), out.result(i), layout, at < s.carries ? carried[at] : Addends());
    }
  }

  /// A body for one device along the manual axes: outside its operands are cut over these
  /// (which come first in each dimension) and others, inside they are whole but for the others.
  void manual(Builder& b, const Op& op) {
    auto found = plan_.manual.find(&op);
    if (found == plan_.manual.end())
      throw Error("partition", "a manual computation whose axes are not those of the mesh")
          .at(op.where.text())
          .unsupported();
    const ManualPlan& m = found->second;
    auto inside = [&](Layout layout) {
      for (Axes& dim : layout.dims)
        std::erase_if(dim, [&](int a) { return std::count(m.axes.begin(), m.axes.end(), a) > 0; });
      return layout;
    };
    const Block& body = op.region(0);
    for (int i = 0; i < body.num_arguments(); ++i) {
      const Layout& layout = m.operands[static_cast<std::size_t>(i)];
      const Addends* a = addends(m.operand_addends, i);
      set(body.argument(i), entering(b, op.operand(i), layout, a ? *a : Addends()), inside(layout));
    }
    Axes outer = manual_axes_;
    manual_axes_.insert(manual_axes_.end(), m.axes.begin(), m.axes.end());
    run_ops(body, b);
    manual_axes_ = std::move(outer);
    for (int i = 0; i < op.num_results(); ++i) {
      const Layout& layout = m.results[static_cast<std::size_t>(i)];
      Value* local = in_layout(b, body.results[static_cast<std::size_t>(i)], inside(layout));
      const Addends* a = addends(m.result_addends, i);
      place(b, op.result(i), local, layout, a ? *a : Addends());
    }
  }

  void last_channel(const Op& op) {
    const ir::Attr* channel = op.attrs.find("channel_id");
    const std::int64_t* id = channel ? std::get_if<std::int64_t>(channel) : nullptr;
    if (id != nullptr) emit_.set_last_channel(channel_ = std::max(channel_, *id));
  }

  std::int64_t channel_ = 0;
  Axes manual_axes_;  // of the bodies around
};

}  // namespace

Partitioned partition(const Block& whole, const Grid& grid, const Plan& plan,
                      const PartitionOptions& options) {
  return Partitioner(grid, plan, options).run(whole);
}

}  // namespace strata::spmd
