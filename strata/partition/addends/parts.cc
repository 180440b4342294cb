#include "strata/partition/addends/parts.h"

#include <algorithm>
#include <utility>

#include "strata/base/check.h"
#include "strata/partition/addends/addends.h"

namespace strata::spmd {

using op::Builder;
using op::Op;
using op::Value;

bool can_be_cut(const Type& type) {
  return type.is_tensor() && type.shape().is_static() && !type.is_quantized();
}

void Parts::set(const Value* v, Value* local, Layout layout, Addends addends) {
  Type expected = local_type(grid_, v->type(), layout);
  STRATA_CHECK(local->type() == expected, "a part of {} is {} instead of {}", v->type().to_string(),
               local->type().to_string(), expected.to_string());
  parts_[v] = {local, std::move(layout), std::move(addends)};
}
const Parts::Part& Parts::part(const Value* v) const {
  auto it = parts_.find(v);
  STRATA_CHECK(it != parts_.end(), "a value is used before it is there");
  return it->second;
}
Layout Parts::whole_of(const Value* v) {
  return Layout::whole(v->type().is_tensor() ? v->rank() : 0);
}
const Layout* Parts::planned(const Value* v) const {
  if (!can_be_cut(v->type())) return nullptr;
  auto it = plan_.values.find(v);
  return it == plan_.values.end() ? nullptr : &it->second;
}
Layout Parts::planned_or_whole(const Value* v) const {
  const Layout* layout = planned(v);
  return layout ? *layout : whole_of(v);
}

Value* Parts::in_layout(Builder& b, const Value* v, const Layout& layout) {
  const Part& have = part(v);
  if (kept_ &&
      (std::count(made_.begin(), made_.end(), v) > 0 || same_addends(have.addends, *kept_)))
    return as_addends(b, v, layout, *kept_);
  if (have.layout == layout && have.addends.axes.empty()) return have.local;
  auto key = std::tuple(&b.block(), v, layout.dims);
  if (auto it = moved_.find(key); it != moved_.end()) return it->second;
  Layout from = have.layout;
  Value* x = combine_addends(b, emit_, grid_, have.local, v->type(), from, have.addends, &layout);
  return moved_[key] = emit_.reshard(b, x, v->type(), from, layout);
}

void Parts::place(Builder& b, const Value* v, Value* local, Layout layout, const Addends& a) {
  arrive(b, v, local, std::move(layout), kept_ ? *kept_ : a);
  const Layout* to = planned(v);
  if (to == nullptr || *to == part(v).layout) return;
  const Part x = part(v);
  set(v, emit_.reshard(b, x.local, v->type(), x.layout, *to), *to, x.addends);
}

// ---- addends -----------------------------------------------------------------------------------

const Addends* Parts::wanted(const Value* v) const {
  if (options_.exact) return nullptr;
  auto it = plan_.addends.find(v);
  return it == plan_.addends.end() || it->second.axes.empty() ? nullptr : &it->second;
}

void Parts::arrive(Builder& b, const Value* v, Value* local, Layout layout, const Addends& a) {
  const Addends* may = wanted(v);
  if (may != nullptr && may->combiner == a.combiner && within(a.axes, may->axes))
    return set(v, local, std::move(layout), a);
  local = combine_addends(b, emit_, grid_, local, v->type(), layout, a, planned(v));
  set(v, local, std::move(layout));
}

void Parts::settle_captures(Builder& b, const Op& op) {
  for (const auto& region : op.regions)
    for (const Value* v : ir::captures(*region)) {
      Part x = part(v);
      if (x.addends.axes.empty()) continue;
      x.local = combine_addends(b, emit_, grid_, x.local, v->type(), x.layout, x.addends, nullptr);
      set(v, x.local, std::move(x.layout));
    }
}

Value* Parts::as_addends(Builder& b, const Value* v, const Layout& layout, const Addends& a) {
  Part have = part(v);
  if (same_addends(have.addends, a))
    return emit_.reshard(b, have.local, v->type(), have.layout, layout);
  have.local =
      combine_addends(b, emit_, grid_, have.local, v->type(), have.layout, have.addends, &layout);
  return to_addends(b, emit_, grid_, have.local, v->type(), have.layout, layout, a);
}

void Parts::keep(const Op& op) {
  const Addends* may = op.num_results() == 1 ? wanted(op.result()) : nullptr;
  if (may == nullptr) return;
  std::vector<bool> are;
  const Addends* first = nullptr;
  for (const Value* v : op.operands) {
    are.push_back(are_addends(v));
    if (!are.back()) continue;
    if (first == nullptr) first = &part(v).addends;
    if (!same_addends(*first, part(v).addends)) return;
  }
  if (first == nullptr || may->combiner != first->combiner || !within(first->axes, may->axes))
    return;
  const Kept kept = kept_by(op, are, first->combiner);
  if (kept == Kept::no) return;
  kept_ = *first;
  made_.clear();
  for (const Value* v : op.operands)
    if (kept == Kept::of_all && v->rank() == op.result()->rank()) made_.push_back(v);
}

}  // namespace strata::spmd
