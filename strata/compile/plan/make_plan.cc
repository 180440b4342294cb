#include "strata/compile/plan/make_plan.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

#include "strata/base/error.h"
#include "strata/base/stage_times.h"
#include "strata/compile/fuse/fusion.h"
#include "strata/compile/fuse/group_key.h"
#include "strata/compile/fuse/grouped_block.h"
#include "strata/compile/kernel/custom_kernel.h"
#include "strata/compile/kernel/dot/accumulating_scan_gemm.h"
#include "strata/compile/kernel/dot/precompiled_gemm.h"
#include "strata/compile/kernel/gemm/gemm_kernel.h"
#include "strata/compile/kernel/gemm/gemm_operand.h"
#include "strata/compile/kernel/loop/scalar_loop.h"
#include "strata/compile/kernel/loop/small_array_loop.h"
#include "strata/compile/kernel/loop_fusion.h"
#include "strata/compile/kernel/scatter/update_kernel.h"
#include "strata/compile/plan/double_buffer.h"
#include "strata/compile/plan/in_place.h"
#include "strata/compile/plan/launch_grain.h"
#include "strata/compile/plan/loop_parallelism.h"
#include "strata/compile/plan/redundant_launches.h"
#include "strata/op/control/scan.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Op;
using ir::Value;

constexpr int kNever = GroupedBlock::kNever;

std::int64_t bytes_of(const Value* v) { return static_cast<std::int64_t>(v->type().bytes()); }

/// Plans blocks one inside another. `place_` holds where every value is, across blocks.
class Planner {
 public:
  Planner(Plan& plan, const CpuTarget& target, const SharingLimits& sharing)
      : plan_(plan), target_(target), sharing_(sharing) {}

  void run(const Block& block, const std::vector<bool>& donated) {
    for (int i = 0; i < block.num_arguments(); ++i) {
      plan_.argument_types.push_back(block.argument(i)->type());
      place_[block.argument(i)] = {
          buffer(PlanBuffer::Kind::argument, i, bytes_of(block.argument(i)))};
    }
    plan_.result_types = block.result_types();
    const GroupedBlock grouped = group(block);
    Scope scope(grouped, *this);
    std::vector<Address> targets;
    for (std::size_t r = 0; r < block.results.size(); ++r)
      targets.push_back(
          {buffer(PlanBuffer::Kind::result, static_cast<int>(r), bytes_of(block.results[r]))});
    choose_aliases(scope, donated);
    for (std::size_t r = 0; r < block.results.size(); ++r)
      if (desire(scope, block.results[r], targets[r]) && plan_.aliased[r] < 0)
        desire_what_is_updated(scope, block.results[r], targets[r]);
    schedule(scope, plan_.steps);
    for (std::size_t r = 0; r < block.results.size(); ++r)
      copy(place_.at(block.results[r]), targets[r], bytes_of(block.results[r]), plan_.steps);
  }

 private:
  /// A block under way: its groups, and where values are wished.
  struct Scope {
    Scope(const GroupedBlock& b, Planner& planner) : grouped(b), block(b.block), fusion(b.fusion) {
      for (const Value* v : fusion.constants)
        if (!fusion.runtime_constants.count(v))
          planner.place_[v] = planner.constant(*constant_literal(*v->op()));
      planner.place_numbers(fusion);
      planner.place_slices(block, fusion);
    }
    int made(const Value* v) const { return grouped.made(v); }
    const GroupedBlock& grouped;
    const Block& block;
    const Fusion& fusion;
    std::unordered_map<const Value*, Address> desired;
    std::unordered_set<const Value*> given;  // from outside, of whose memory no one else asks
                                             // anything any more (lookup only)
  };
  GroupedBlock group(const Block& block) const { return GroupedBlock(block, sharing_); }

  // ---- buffers
  int buffer(PlanBuffer::Kind kind, int number, std::int64_t bytes) {
    plan_.buffers.push_back({kind, number, bytes, 0});
    return static_cast<int>(plan_.buffers.size()) - 1;
  }
  Address temporary(std::int64_t bytes) { return {buffer(PlanBuffer::Kind::temporary, 0, bytes)}; }
  Address constant(const Literal& literal) {
    plan_.constants.push_back(literal);
    return {buffer(PlanBuffer::Kind::constant, static_cast<int>(plan_.constants.size()) - 1,
                   static_cast<std::int64_t>(literal.bytes()))};
  }
  /// All numbers of a block are in one buffer: a driver looks at each buffer when it begins.
  void place_numbers(const Fusion& fusion) {
    constexpr std::int64_t kAlign = 64;
    std::vector<std::pair<const Value*, std::int64_t>> at;
    std::int64_t bytes = 0;
    for (const Value* v : fusion.constants) {
      if (!fusion.runtime_constants.count(v)) continue;
      at.emplace_back(v, bytes);
      bytes += (bytes_of(v) + kAlign - 1) / kAlign * kAlign;
    }
    if (at.empty()) return;
    Literal all(Type(DType::ui8, {bytes}));
    std::fill_n(all.mutable_data(), bytes, std::byte{0});
    for (auto [v, offset] : at)
      std::copy_n(constant_literal(*v->op())->data(), bytes_of(v), all.mutable_data() + offset);
    const int buffer = constant(all).buffer;
    for (auto [v, offset] : at) place_[v] = {buffer, offset};
  }
  void place_slices(const Block& block, const Fusion& fusion) {
    for (const auto& op : block.ops()) {
      if (op->num_results() != 1) continue;
      auto slice = fusion.slices.find(op->result());
      if (slice == fusion.slices.end()) continue;
      Address at = place_.at(slice->second.of);
      at.offset += slice->second.begin *
                   static_cast<std::int64_t>(byte_width(stored_dtype(op->result()->type())));
      place_[op->result()] = at;
    }
  }
  void copy(const Address& from, const Address& to, std::int64_t bytes, Steps& steps,
            std::string why = {}) {
    if (!(from == to) && bytes > 0) steps.push_back({Copy{from, to, bytes, std::move(why)}});
  }
  /// Asks that a value made in this block be written to `target` at once; the first to ask gets it.
  bool desire(Scope& scope, const Value* v, const Address& target) {
    if (scope.made(v) == kNever || v->block() != &scope.block) return false;
    return scope.desired.emplace(v, target).second;
  }
  /// Of a result that nobody else has the memory of: what an update changes on the way to it is
  /// made there, too.
  void desire_what_is_updated(Scope& scope, const Value* v, const Address& target) {
    while (scope.fusion.groups[static_cast<std::size_t>(scope.made(v))].kind == GroupKind::update) {
      const Value* old = v->op()->operand(v->index());
      if (!may_replace(scope, v, old) || !desire(scope, old, target)) return;
      v = old;
    }
  }
  /// Where the result of a group's root is written.
  Address target(Scope& scope, const Value* v) {
    if (auto it = scope.desired.find(v); it != scope.desired.end()) return it->second;
    return temporary(bytes_of(v));
  }

  bool may_replace(const Scope& scope, const Value* made, const Value* old) {
    return in_place_.may_replace(scope.grouped, made, old);
  }

  /// Results that may take the memory of donated arguments.
  void choose_aliases(Scope& scope, const std::vector<bool>& donated) {
    const Block& block = scope.block;
    plan_.aliased.assign(block.results.size(), -1);
    std::vector<bool> taken(static_cast<std::size_t>(block.num_arguments()), false);
    for (std::size_t r = 0; r < block.results.size(); ++r)
      for (std::size_t a = 0; a < donated.size() && a < taken.size(); ++a) {
        const Value *v = block.results[r], *argument = block.argument(static_cast<int>(a));
        if (!donated[a] || taken[a] || !(v->type() == argument->type()) || v->block() != &block ||
            !v->op())
          continue;
        if (std::count(block.results.begin(), block.results.end(), v) > 1 ||
            !may_replace(scope, v, argument))
          continue;
        taken[a] = true;
        plan_.aliased[r] = static_cast<int>(a);
        break;
      }
  }

  // ---- steps
  void schedule(Scope& scope, Steps& steps) {
    for (std::size_t g = 0; g < scope.fusion.groups.size(); ++g) {
      const Group& group = scope.fusion.groups[g];
      switch (group.kind) {
        case GroupKind::loops:
          launch_alike(
              scope, group,
              [&] { return build_loop_fusion(group, scope.fusion, target_, sharing_.any_size); },
              steps);
          break;
        case GroupKind::gemm:
          launch_alike(
              scope, group, [&] { return build_gemm(group, scope.fusion, target_); }, steps);
          break;
        case GroupKind::update: update(scope, group, steps); break;
        case GroupKind::custom: structured(scope, group, steps); break;
      }
    }
  }

  /// Kernels of the plan, and what those of other groups of the same structure are bound to.
  struct Kept {
    struct Kernel {
      int number;
      bool parallel;
      std::vector<Binding> bindings;
    };
    std::vector<Kernel> kernels;
    std::vector<std::int64_t> temporaries;
    std::vector<const Value*> values;  // of the group they were built for (GroupKey::values)
  };
  Kept keep(Built built) {
    Kept kept{.temporaries = std::move(built.temporaries)};
    for (BuiltKernel& k : built.kernels) {
      kept.kernels.push_back({static_cast<int>(plan_.kernels.size()),
                              k.parallel && k.kernel->grid > 1, std::move(k.bindings)});
      plan_.kernels.push_back(std::move(k.kernel));
    }
    return kept;
  }

  void launch(Scope& scope, const Group& group, Built built, Steps& steps) {
    launch(scope, group, keep(std::move(built)), nullptr, steps);
  }

  /// Builds the group's kernels, unless an equal group has.
  template <class Build>
  void launch_alike(Scope& scope, const Group& group, Build build, Steps& steps) {
    std::optional<GroupKey> key = group_key(group, scope.fusion);
    if (!key) return launch(scope, group, build(), steps);
    auto found = alike_.find(key->bytes);
    if (found == alike_.end()) {
      Stage builds("  build kernels");
      Kept kept = keep(build());
      kept.values = key->values;
      found = alike_.emplace(std::move(key->bytes), std::move(kept)).first;
    }
    std::unordered_map<const Value*, const Value*> here;
    for (std::size_t i = 0; i < key->values.size(); ++i)
      here.emplace(found->second.values[i], key->values[i]);
    launch(scope, group, found->second, &here, steps);
  }

  void launch(Scope& scope, const Group& group, const Kept& kept,
              const std::unordered_map<const Value*, const Value*>* here, Steps& steps) {
    for (const Value* v : group.outputs)
      if (!place_.count(v)) place_[v] = target(scope, v);
    std::vector<Address> temporaries;
    for (std::int64_t bytes : kept.temporaries) temporaries.push_back(temporary(bytes));
    for (const Kept::Kernel& k : kept.kernels) {
      Launch l;
      l.kernel = k.number;
      l.parallel = k.parallel;
      for (const Binding& bound : k.bindings) {
        const Value* value = bound.value && here ? here->at(bound.value) : bound.value;
        if (value)
          STRATA_CHECK(place_.count(value), "{} reads a value that lies nowhere",
                       plan_.kernels[static_cast<std::size_t>(k.number)]->name);
        l.arguments.push_back(value ? place_.at(value)
                                    : temporaries[static_cast<std::size_t>(bound.temporary)]);
      }
      steps.push_back({std::move(l)});
    }
  }

  void launch_native(Scope& scope, const Group& group, const op::Native& native, Steps& steps) {
    const Op& op = *group.roots.front();
    for (const Value* v : op.results())
      if (!place_.count(v)) place_[v] = target(scope, v);
    LaunchNative l{
        .symbol = native.symbol(op), .params = native.params(op), .grid = native.grid(op)};
    l.may_fail = op.info().has_effect;
    constexpr double kLanesPerFlop = 16;  // of code without vectors
    const double flops = op::def(op).cost(op).flops;
    l.parallel = !l.may_fail && l.grid > 1 && flops > kInlineWork;
    l.grain = grain_of(l.grid, kLanesPerFlop * flops);
    for (const Value* v : op.operands) l.arguments.push_back(place_.at(v));
    for (const Value* v : op.results()) l.arguments.push_back(place_.at(v));
    steps.push_back({std::move(l)});
  }

  /// Whether this block may overwrite the memory of v after its last read: it was made here, or is
  /// a carry, or was given to a branch.
  bool owns(const Scope& scope, const Value* v) const {
    if (plan_.buffers[static_cast<std::size_t>(place_.at(v).buffer)].kind ==
        PlanBuffer::Kind::constant)
      return false;
    return scope.given.count(v) || (v->block() == &scope.block && (v->op() || carries_.count(v)));
  }

  void update(Scope& scope, const Group& group, Steps& steps) {
    const Op& op = *group.roots.front();
    for (const Value* v : op.results()) {
      const Value* old = op.operand(v->index());
      const Address from = place_.at(old);
      auto wish = scope.desired.find(v);
      bool in_place = owns(scope, old) && may_replace(scope, v, old);
      if (in_place && (wish == scope.desired.end() || wish->second == from) &&
          is_free_for(scope, v, from)) {
        place_[v] = from;
      } else {
        place_[v] = target(scope, v);
        copy(from, place_[v], bytes_of(v), steps, why_copied(scope, v, old));
      }
    }
    launch_alike(scope, group, [&] { return build_update(op, scope.fusion); }, steps);
    fill_on_one_thread(op, steps);
  }

  /// Why an update changes a copy.
  std::string why_copied(const Scope& scope, const Value* made, const Value* old) {
    if (!owns(scope, old)) return "the array belongs to what is around this block";
    std::string why = in_place_.why_not(scope.grouped, made, old);
    return why.empty() ? "another value is written to this memory" : why;
  }

  /// Where one thread changes most elements of an array, at places all over it, that thread fills
  /// it before (zeros, of a sum by scatter): to fetch a line from another core's cache takes longer
  /// than to fill it.
  void fill_on_one_thread(const Op& update, Steps& steps) {
    constexpr std::int64_t kCaches = 8 << 20;  // bytes
    const auto* changes = steps.empty() ? nullptr : std::get_if<Launch>(&steps.back().what);
    const Value* result = update.result(0);
    const bool changes_most = update.operands.back()->shape().count() >= result->shape().count();
    if (!changes || changes->parallel || !changes_most || bytes_of(result) > kCaches) return;
    const Address place = place_.at(result);
    for (auto step = steps.rbegin() + 1; step != steps.rend(); ++step) {
      auto* fills = std::get_if<Launch>(&step->what);
      if (fills && fills->arguments == std::vector<Address>{place})
        return void(fills->parallel = false);
    }
  }

  void structured(Scope& scope, const Group& group, Steps& steps) {
    const Op& op = *group.roots.front();
    const op::Lowering& lowering = op::def(op).lowering;
    if (std::holds_alternative<op::CustomKernel>(lowering))
      return launch_alike(
          scope, group, [&] { return build_custom_kernel(op, scope.fusion); }, steps);
    if (is_precompiled_gemm(op)) return launch_native(scope, group, precompiled_gemm(), steps);
    if (const auto* native = std::get_if<op::Native>(&lowering))
      return launch_native(scope, group, *native, steps);
    const auto* kind = std::get_if<op::Structured>(&lowering);
    if (!kind) {
      const auto* none = std::get_if<op::None>(&op::def(op).lowering);
      throw Error(op.name(), "this operation is not compiled: {}",
                  none ? none->reason : "no lowering")
          .at(op.where.text())
          .unsupported();
    }
    if (!sharing_.any_size)
      if (auto sum = build_accumulating_scan_gemm(op, scope.fusion, target_))
        return launch(scope, group, std::move(*sum), steps);
    if (auto native = build_scalar_loop(op, scope.fusion))
      return launch(scope, group, std::move(*native), steps);
    if (auto small = build_small_array_loop(op, scope.fusion)) {
      for (auto [initial, result] : small->in_place) carry_place(scope, initial, result, steps);
      return launch(scope, group, std::move(small->built), steps);
    }
    switch (kind->kind) {
      case op::Structured::Kind::while_: return while_loop(scope, op, steps);
      case op::Structured::Kind::scan: return scan(scope, op, steps);
      case op::Structured::Kind::case_: return branch(scope, op, steps);
      case op::Structured::Kind::call: STRATA_UNREACHABLE("{} should have been inlined", op.name());
    }
  }

  /// Memory for a carry: the result's own place, or the initial value's memory when nobody needs
  /// that any more.
  Address carry_place(Scope& scope, const Value* initial, const Value* result, Steps& steps) {
    Address from = place_.at(initial);
    auto wish = scope.desired.find(result);
    bool dying = owns(scope, initial) && scope.made(result) != kNever &&
                 scope.grouped.last(initial) == scope.made(result) &&
                 !is_shared_operand(*result->op(), initial) && is_free_for(scope, result, from);
    Address place = wish != scope.desired.end() ? wish->second
                    : dying && from.counter < 0 ? from
                                                : temporary(bytes_of(initial));
    copy(from, place, bytes_of(initial), steps);
    place_[result] = place;
    return place;
  }
  /// Whether `v` may stay in this memory until it is read for the last time: what else is wished
  /// there is written later.
  bool is_free_for(const Scope& scope, const Value* v, const Address& memory) {
    return std::all_of(scope.desired.begin(), scope.desired.end(), [&](const auto& wish) {
      return wish.first == v || !(wish.second == memory) || may_replace(scope, wish.first, v);
    });
  }
  /// Plans a loop's body: new carries go to the carries' memory, at once where that is safe, else
  /// at the end.
  void loop_body(Scope& body, const std::vector<const Value*>& arguments,
                 const std::vector<const Value*>& results, Steps& steps) {
    std::vector<bool> direct(results.size(), false);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i] == arguments[i] || !results[i]->op() || results[i]->block() != &body.block)
        continue;
      bool once = std::count(body.block.results.begin(), body.block.results.end(), results[i]) == 1;
      // The carry itself may be a result too (it moves to another one), so it must not be among
      // them.
      bool moves = std::count(body.block.results.begin(), body.block.results.end(),
                              const_cast<Value*>(arguments[i])) > 0;
      if (once && !moves && may_replace(body, results[i], arguments[i]))
        direct[i] = desire(body, results[i], place_.at(arguments[i]));
    }
    schedule(body, steps);
    auto why = [&](std::size_t i) {
      const Value *made = results[i], *old = arguments[i];
      if (!made->op() || made->block() != &body.block) return std::string("the carry moves");
      const std::string reason = in_place_.why_not(body.grouped, made, old);
      return reason.empty() ? "the new value lies elsewhere" : reason;
    };
    std::vector<std::pair<Address, std::size_t>>
        late;  // other carries' values are read before any is overwritten
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (direct[i] || results[i] == arguments[i]) continue;
      Address from = place_.at(results[i]);
      if (from == place_.at(arguments[i])) continue;
      bool carry = std::any_of(arguments.begin(), arguments.end(),
                               [&](const Value* a) { return place_.at(a) == from; });
      if (carry) {
        Address safe = temporary(bytes_of(results[i]));
        copy(from, safe, bytes_of(results[i]), steps);
        from = safe;
      }
      late.push_back({from, i});
    }
    for (auto& [from, i] : late)
      copy(from, place_.at(arguments[i]), bytes_of(results[i]), steps, why(i));
  }

  void while_loop(Scope& scope, const Op& op, Steps& steps) {
    const Block &condition = op.region(0), &body = op.region(1);
    std::vector<const Value*> arguments, results;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      int n = static_cast<int>(i);
      Address place = carry_place(scope, op.operands[i], op.result(n), steps);
      place_[condition.argument(n)] = place_[body.argument(n)] = place;
      carries_.insert(body.argument(n));
      arguments.push_back(body.argument(n));
      results.push_back(body.results[i]);
    }
    WhileLoop loop;
    const GroupedBlock in_condition = group(condition), in_body = group(body);
    Scope inner(in_condition, *this);
    Address predicate = temporary(1);
    desire(inner, condition.results[0], predicate);
    schedule(inner, loop.condition);
    copy(place_.at(condition.results[0]), predicate, 1, loop.condition);
    loop.predicate = predicate;
    Scope body_scope(in_body, *this);
    loop_body(body_scope, arguments, results, loop.body);
    steps.push_back({std::move(loop)});
  }

  void scan(Scope& scope, const Op& op, Steps& steps) {
    op::ScanParts parts(op);
    const Block& body = parts.body;
    int counter = plan_.num_counters++;
    std::vector<const Value*> arguments, results;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const Value* argument = body.argument(static_cast<int>(i));
      if (i < parts.consts) {
        place_[argument] = place_.at(op.operands[i]);
      } else if (i < parts.consts + parts.carries) {
        std::size_t c = i - parts.consts;
        place_[argument] =
            carry_place(scope, op.operands[i], op.result(static_cast<int>(c)), steps);
        carries_.insert(argument);
        arguments.push_back(argument);
        results.push_back(body.results[c]);
      } else {
        place_[argument] = sliced(whole(place_.at(op.operands[i]), bytes_of(op.operands[i]), steps),
                                  counter, bytes_of(argument));
      }
    }
    CountedLoop loop;
    loop.counter = counter;
    loop.count = parts.length;
    loop.reverse = parts.reverse;
    const GroupedBlock in_body = group(body);
    Scope inner(in_body, *this);
    std::vector<Address> stacked;
    std::vector<std::pair<Address, Address>> after;  // stacks that had to be made elsewhere
    for (std::size_t y = 0; y < parts.ys; ++y) {
      const Value* result = op.result(static_cast<int>(parts.carries + y));
      Address wished = target(scope, result),
              place = wished.counter < 0 ? wished : temporary(bytes_of(result));
      if (!(wished == place)) after.push_back({place, wished});
      place_[result] = wished;
      stacked.push_back(sliced(place, counter, bytes_of(body.results[parts.carries + y])));
    }
    // Carries first: a value that is both is written to its carry and copied to its stack.
    for (std::size_t y = 0; y < parts.ys; ++y) {
      const Value* v = body.results[parts.carries + y];
      if (std::find(results.begin(), results.end(), v) == results.end())
        desire(inner, v, stacked[y]);
    }
    loop_body_with_stacks(inner, arguments, results, stacked, parts, loop.body);
    std::int64_t count = loop.count;
    if (count > 0) steps.push_back({std::move(loop)});
    for (std::size_t i = 0; i < after.size(); ++i)
      copy(after[i].first, after[i].second,
           plan_.buffers[static_cast<std::size_t>(after[i].first.buffer)].bytes, steps);
  }

  /// Stacked values that were not written in place are copied before carries are overwritten.
  void loop_body_with_stacks(Scope& inner, const std::vector<const Value*>& arguments,
                             const std::vector<const Value*>& results,
                             const std::vector<Address>& stacked, const op::ScanParts& parts,
                             Steps& steps) {
    std::vector<std::pair<const Value*, Address>> copies;
    for (std::size_t y = 0; y < parts.ys; ++y) {
      const Value* v = parts.body.results[parts.carries + y];
      auto wish = inner.desired.find(v);
      if (wish == inner.desired.end() || !(wish->second == stacked[y]))
        copies.push_back({v, stacked[y]});
    }
    Steps body;
    loop_body(inner, arguments, results, body);
    // Where a carry is stacked as it came in, its copy goes first; made values exist only after
    // their groups ran, and carries are overwritten late only by copies, which loop_body put last:
    // so copy right before those.
    std::size_t first_late = body.size();
    while (first_late > 0 && std::holds_alternative<Copy>(body[first_late - 1].what)) --first_late;
    Steps early, late_copies;
    for (auto& [v, to] : copies) {
      bool incoming = std::find(arguments.begin(), arguments.end(), v) != arguments.end();
      copy(place_.at(v), to, bytes_of(v), incoming ? early : late_copies);
    }
    for (Step& s : early) steps.push_back(std::move(s));
    for (std::size_t i = 0; i < first_late; ++i) steps.push_back(std::move(body[i]));
    for (Step& s : late_copies) steps.push_back(std::move(s));
    for (std::size_t i = first_late; i < body.size(); ++i) steps.push_back(std::move(body[i]));
  }

  /// A place whose address does not move with an outer loop: itself, or a copy.
  Address whole(const Address& at, std::int64_t bytes, Steps& steps) {
    if (at.counter < 0) return at;
    Address out = temporary(bytes);
    copy(at, out, bytes, steps);
    return out;
  }
  static Address sliced(Address at, int counter, std::int64_t bytes) {
    at.counter = counter;
    at.stride = bytes;
    return at;
  }

  /// Memory for result r of a branch: where it is wished, or that of a value which the branches
  /// change and nobody needs any more. What is there is `given` to the branches.
  Address branch_place(Scope& scope, const Op& op, int r, std::unordered_set<const Value*>& given) {
    const Value* result = op.result(r);
    auto wish = scope.desired.find(result);
    for (const auto& region : op.regions)
      for (const Value* old : ir::captures(*region)) {
        if (!(old->type() == result->type()) || given.count(old) || !owns(scope, old)) continue;
        const Address from = place_.at(old);
        const bool wished = wish == scope.desired.end() || wish->second == from;
        if (!wished || from.counter >= 0 || !may_replace(scope, result, old) ||
            !is_free_for(scope, result, from))
          continue;
        given.insert(old);
        return from;
      }
    return target(scope, result);
  }

  void branch(Scope& scope, const Op& op, Steps& steps) {
    Branch out;
    out.index = place_.at(op.operand(0));
    out.boolean = op.operand(0)->dtype() == DType::i1;
    std::unordered_set<const Value*> given;
    for (int r = 0; r < op.num_results(); ++r)
      place_[op.result(r)] = branch_place(scope, op, r, given);
    for (const auto& region : op.regions) {
      Scope inner(in_place_.branch(*region), *this);
      inner.given = given;
      for (int r = 0; r < op.num_results(); ++r)
        desire(inner, region->results[static_cast<std::size_t>(r)], place_.at(op.result(r)));
      Steps body;
      schedule(inner, body);
      for (int r = 0; r < op.num_results(); ++r) {
        const Value* v = region->results[static_cast<std::size_t>(r)];
        copy(place_.at(v), place_.at(op.result(r)), bytes_of(v), body);
      }
      out.branches.push_back(std::move(body));
    }
    steps.push_back({std::move(out)});
  }

  Plan& plan_;
  const CpuTarget& target_;
  const SharingLimits& sharing_;
  std::unordered_map<const Value*, Address> place_;
  InPlace in_place_{sharing_};
  std::unordered_set<const Value*> carries_;
  std::unordered_map<std::string, Kept> alike_;  // by GroupKey::bytes
};

}  // namespace

Plan make_plan(const Block& block, const std::vector<bool>& donated, const CpuTarget& target,
               const TilePipelineLimits& pipelines, const SharingLimits& sharing,
               const ConcurrencyLimits& streams) {
  Stage stage("plan");
  Plan plan;
  plan.target = target;
  Planner(plan, target, sharing).run(block, donated);
  parallelize_launches_in_loops(plan);
  eliminate_redundant_launches(plan);
  if (!sharing.any_size) {
    Stage finding("  streams");
    form_concurrent_launches(plan, streams);
  }
  {
    Stage finding("  pipelines");
    form_tile_pipelines(plan, pipelines);
  }
  choose_grains(plan);
  double_buffer_carries(plan);
  Stage places("  places in memory");
  assign_memory(plan);
  return plan;
}

}  // namespace strata::compile
