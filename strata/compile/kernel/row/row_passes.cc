#include "strata/compile/kernel/row/row_passes.h"

#include <algorithm>

#include "strata/compile/fuse/access_strides.h"
#include "strata/compile/fuse/value_uses.h"
#include "strata/compile/kernel/reduce/combiner.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;

/// Roots of the group that an operation reads through inlined operations.
void collect_roots(const Op& op, const Group& group, const Fusion& fusion,
                   std::vector<const Value*>& out) {
  for (const Value* v : op.operands) {
    if (!v->op()) continue;
    if (fusion.inlined.count(v))
      collect_roots(*v->op(), group, fusion, out);
    else if (std::find(group.roots.begin(), group.roots.end(), v->op()) != group.roots.end())
      out.push_back(v);
  }
}

/// Whether an instruction stands in one of the bodies of these, at any depth.
bool stands_within(std::span<Inst* const> insts, const Inst* wanted) {
  return std::any_of(insts.begin(), insts.end(), [&](const Inst* inst) {
    return std::any_of(inst->bodies.begin(), inst->bodies.end(), [&](const auto& body) {
      return std::find(body->insts.begin(), body->insts.end(), wanted) != body->insts.end() ||
             stands_within(body->insts, wanted);
    });
  });
}

}  // namespace

RowContext::RowContext(loop::Builder& b, const Group& group, const Fusion& fusion,
                       BuiltKernel& built)
    : KernelContext(b, fusion, built) {
  for (const Op* op : group.roots)
    for (const Value* v : op->results()) roots_.insert(v);
}

bool RowContext::inlined(const Value* v) {
  if (rows_.count(v)) return false;
  if (kept_.count(v)) return outside_ && outside_->settles(v);
  if (roots_.count(v)) return !is_reduction(*v->op());
  return KernelContext::inlined(v);
}

Inst* RowContext::computed(const Value* v, std::span<const Index> index) {
  const Value* other = outside_ && outside_->settles(v) ? outside_->chosen(v) : nullptr;
  return other ? at(other, index) : KernelContext::computed(v, index);
}

Inst* RowContext::leaf(const Value* v, std::span<const Index> index, const Index& offset) {
  if (auto row = rows_.find(v); row != rows_.end()) return row->second;
  if (auto kept = kept_.find(v); kept != kept_.end())
    return b.load(kept->second.first, offset - kept->second.second);
  STRATA_CHECK(!roots_.count(v), "a row reads {} before its pass", v->op()->name());
  if (places_ && v->type().bytes() >= kBeyondL2 && depends_on_reads(offset)) {
    places_->push_back({v, offset});
    return b.constant_bits(stored_dtype(v->type()), 0);
  }
  return KernelContext::leaf(v, index, offset);
}

std::vector<RowContext::Place> RowContext::is_gather(std::span<const Value* const> values,
                                                     const Index& offset) {
  std::vector<Place> out;
  const std::size_t before = b.current()->insts.size();
  places_ = &out;
  for (const Value* v : values) stored_at_offset(v, offset);
  places_ = nullptr;
  const std::span made = std::span(b.current()->insts).subspan(before);
  std::erase_if(out, [&](const Place& place) {
    return std::any_of(place.offset.terms().begin(), place.offset.terms().end(),
                       [&](const Index::Term& term) { return stands_within(made, term.variable); });
  });
  return out;
}

RowPasses::RowPasses(const Group& of, const Fusion& fusion, std::int64_t number_of_rows,
                     BuiltKernel& built)
    : group(of),
      rows(number_of_rows),
      length(of.total / number_of_rows),
      point(point_elements(of, fusion)),
      b(*built.kernel),
      context(b, of, fusion, built) {
  std::unordered_map<const Value*, std::vector<const Value*>> reads;
  for (const Op* op : group.roots) {
    std::vector<const Value*> direct;
    collect_roots(*op, group, fusion, direct);
    int l = 0;
    for (const Value* v : direct) l = std::max(l, level_.at(v));
    for (const Value* v : op->results()) {
      level_[v] = l + (is_reduction(*op) ? 1 : 0);
      reads[v] = direct;
    }
    last_ = std::max(last_, l);
  }
  for (const Op* op : group.roots) {
    const Value* v = op->result();
    int at = level_.at(v) - (is_reduction(*op) ? 1 : 0);
    for (const Value* r : reads.at(v))
      if (!is_reduction(*r->op()) && count(r) == group.total && level_.at(r) < at) kept_.insert(r);
  }
}

std::pair<std::vector<const Op*>, std::vector<const Value*>> RowPasses::of_pass(int pass) const {
  std::pair<std::vector<const Op*>, std::vector<const Value*>> out;
  for (const Op* op : group.roots) {
    const Value* v = op->result();
    if (is_reduction(*op)) {
      if (level_.at(v) - 1 == pass) out.first.push_back(op);
    } else if (count(v) == group.total && level_.at(v) == pass &&
               (is_output(v) || kept_.count(v))) {
      out.second.push_back(v);
    }
  }
  return out;
}

std::vector<const Value*> RowPasses::row_values(int pass) const {
  std::vector<const Value*> out;
  for (const Op* op : group.roots)
    if (!is_reduction(*op) && count(op->result()) != group.total && level_.at(op->result()) == pass)
      out.push_back(op->result());
  return out;
}

bool RowPasses::is_output(const Value* v) const {
  return std::find(group.outputs.begin(), group.outputs.end(), v) != group.outputs.end();
}

RowPasses::Targets RowPasses::targets_of(const std::vector<const Value*>& wanted,
                                         std::int64_t elements) {
  Targets out;
  for (const Value* v : wanted)
    out.push_back({v, !kept_.count(v)     ? nullptr
                      : kept_in_result(v) ? context.output(v)
                                          : scratch(v, elements)});
  return out;
}

void RowPasses::store_targets(const Targets& targets, const Index& base, const Index& origin,
                              const Index& j) {
  std::vector<std::vector<Inst*>> values;
  for (auto& [v, ref] : targets) values.push_back(context.stored_at_offset(v, base + j));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    auto& [v, ref] = targets[i];
    if (ref) b.store(ref, kept_in_result(v) ? base + j : base + j - origin, values[i][0]);
    if (is_output(v) && !kept_in_result(v)) context.store_result(v, base + j, values[i]);
  }
}

void RowPasses::keep_targets(const Targets& targets, const Index& origin) {
  for (auto& [v, ref] : targets)
    if (ref) context.keep(v, ref, kept_in_result(v) ? Index(0) : origin);
}

loop::Ref* RowPasses::scratch(const Value* v, std::int64_t elements) {
  loop::Ref*& ref = scratch_[v];
  if (!ref || ref->size < elements) ref = b.scratch(v->dtype(), elements);
  return ref;
}

/// Whether a later pass reads a result where it is. What goes past the caches is kept beside.
bool RowPasses::kept_in_result(const Value* v) const {
  const bool fits = length * static_cast<std::int64_t>(byte_width(v->dtype())) <= kMostRow;
  return is_output(v) && kept_.count(v) != 0 && !(fits && context.goes_past_caches(v));
}

void each_block_of_rows(RowPasses& rows, const std::function<void(Index first)>& block,
                        const std::function<void(Index row)>& one_row) {
  loop::Builder& b = rows.b;
  const std::int64_t blocks = rows.rows / kRowsTogether, rest = rows.rows % kRowsTogether,
                     most = rows_of_point(rows.rows, rows.length, rows.point) / kRowsTogether;
  const std::int64_t per_point = largest_divisor(blocks, std::max<std::int64_t>(1, most)),
                     points = blocks / per_point;
  b.kernel().grid = points + (rest > 0 ? 1 : 0);
  auto whole = [&] {
    b.for_(0, per_point, 1, [&](Index i) { block((b.grid() * per_point + i) * kRowsTogether); });
  };
  if (rest == 0) return whole();
  b.if_(b.less(b.grid(), points), whole,
        [&] { b.for_(0, rest, 1, [&](Index i) { one_row(i + blocks * kRowsTogether); }); });
}

std::int64_t point_elements(const Group& group, const Fusion& fusion) {
  constexpr std::int64_t kLeast = 1024, kLeastOfMuch = 256;
  constexpr double kMuch = 64;  // arithmetic for an element
  double flops = 0;
  if (group.total / 8 < kLeast)
    each_computed(group, fusion, [&](const Op& op) {
      if (op::def(op).traits.elementwise && count(op.result()) == group.total)
        flops += op::def(op).cost(op).flops;
    });
  const std::int64_t least =
      flops >= kMuch * static_cast<double>(group.total) ? kLeastOfMuch : kLeast;
  return std::clamp<std::int64_t>(group.total / 8, least, kPointElements);
}

}  // namespace strata::compile
