#include "strata/compile/kernel/loop/scalarized_block.h"

#include <algorithm>

#include "strata/compile/kernel/gemm/gemm_operand.h"
#include "strata/compile/kernel/reduce/combiner.h"
#include "strata/op/control/scan.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/reduce/reduce.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Op;
using ir::Value;
using loop::Opcode;

constexpr std::int64_t kMostPoints = 64;  // grid points of an update

std::vector<std::int64_t> sizes_of(const Value* v, const std::vector<int>& dims) {
  std::vector<std::int64_t> out;
  for (int d : dims) out.push_back(v->shape()[d]);
  return out;
}

/// Calls `f` with each index of these sizes, row-major.
template <class F>
void for_each(const std::vector<std::int64_t>& sizes, F&& f) {
  std::int64_t count = 1;
  for (std::int64_t n : sizes) count *= n;
  std::vector<Index> index(sizes.size());
  for (std::int64_t at = 0; at < count; ++at) {
    std::int64_t rest = at;
    for (std::size_t d = sizes.size(); d-- > 0; rest /= sizes[d]) index[d] = rest % sizes[d];
    f(std::span<const Index>(index));
  }
}

void place(std::vector<Index>& to, const std::vector<int>& dims, std::span<const Index> index) {
  for (std::size_t i = 0; i < dims.size(); ++i) to[static_cast<std::size_t>(dims[i])] = index[i];
}

std::vector<int> others(int rank, const std::vector<int>& a, const std::vector<int>& b = {}) {
  std::vector<int> out;
  for (int d = 0; d < rank; ++d)
    if (std::find(a.begin(), a.end(), d) == a.end() && std::find(b.begin(), b.end(), d) == b.end())
      out.push_back(d);
  return out;
}

bool is_array(const Value* v) {
  return v->type().is_tensor() && v->shape().is_static() && loop::is_loop_dtype(v->dtype());
}

}  // namespace

bool ScalarizedBlock::is_small(const Value* v) {
  return is_array(v) && v->shape().count() <= kMostElements;
}

bool ScalarizedBlock::lies_in(const Value* v, const loop::Ref* ref) const {
  auto it = memory_.find(v);
  return it != memory_.end() && it->second == ref && !overwritten_.count(v);
}

// ---- elements

Elements ScalarizedBlock::elements(const Value* v) {
  if (auto it = elements_.find(v); it != elements_.end()) return it->second;
  Elements out;
  if (!is_small(v)) {
    fail();
    return out;
  }
  for_each(v->shape().sizes(), [&](std::span<const Index> index) { out.push_back(at(v, index)); });
  return out;
}

Inst* ScalarizedBlock::at(const Value* v, std::span<const Index> index) {
  for (auto it = same_.find(v); it != same_.end(); it = same_.find(v)) v = it->second;
  Index offset = linearize(b, v->shape(), index);
  auto known = elements_.find(v);
  auto in_memory = memory_.find(v);
  bool is_lost = overwritten_.count(v) || (known == elements_.end() && in_memory == memory_.end() &&
                                           blocks_.count(v->block()));
  if (is_lost || offset.lanes() > 1) fail();
  if (failed_) return zero(v);
  if (known != elements_.end()) return chosen(known->second, offset);
  return in_memory != memory_.end() ? b.load(in_memory->second, offset) : outer_.at(v, index);
}

/// Of places known only while the kernel runs, by choices: an offset outside, which nobody looks
/// at, gives the last one.
Inst* ScalarizedBlock::chosen(const Elements& elements, const Index& offset) {
  if (offset.is_constant() && offset.constant() >= 0 &&
      offset.constant() < static_cast<std::int64_t>(elements.size()))
    return elements[static_cast<std::size_t>(offset.constant())];
  if (elements.empty()) {
    fail();
    return b.constant_bits(DType::i1, 0);
  }
  Inst* out = elements.back();
  for (std::size_t i = elements.size() - 1; i-- > 0;)
    out = b.select(b.compare(loop::Compare::eq, b.value(offset),
                             b.constant_int(DType::i64, static_cast<std::int64_t>(i))),
                   elements[i], out);
  return out;
}

Elements ScalarizedBlock::locals(const Elements& initial) {
  Elements out;
  for (Inst* x : initial) out.push_back(b.local(x));
  return out;
}
Elements ScalarizedBlock::now(const Elements& locals) {
  Elements out;
  for (Inst* l : locals) out.push_back(b.get(l));
  return out;
}
void ScalarizedBlock::assign(const Elements& locals, const Elements& values) {
  if (locals.size() != values.size()) return fail();
  for (std::size_t i = 0; i < locals.size(); ++i) b.set(locals[i], values[i]);
}

// ---- operations

std::vector<Elements> ScalarizedBlock::run(const Block& block) {
  blocks_.insert(&block);
  for (const auto& op : block.ops()) {
    if (b.kernel().arena.size() > kMostInsts) fail();
    if (failed_) return std::vector<Elements>(block.results.size());
    step(*op);
  }
  std::vector<Elements> out;
  for (const Value* v : block.results) out.push_back(memory_.count(v) ? Elements{} : elements(v));
  return out;
}

void ScalarizedBlock::step(const Op& op) {
  std::size_t before = b.kernel().arena.size();
  emit(op);
  if (op.regions.empty() || is_reduction(op)) note_excess(op, b.kernel().arena.size() - before);
}

/// A kernel with lanes has one vector instruction for all of these elements, which takes the time
/// of a few scalar ones.
void ScalarizedBlock::note_excess(const Op& op, std::size_t insts) {
  constexpr double kVector = 3;
  std::int64_t lanes = 1;
  for (const Value* v : op.results()) lanes = std::max(lanes, v->shape().count());
  if (is_reduction(op)) lanes = std::max(lanes, op.operand(0)->shape().count());
  excess_ += static_cast<double>(insts) * std::max(0.0, 1 - kVector / static_cast<double>(lanes));
}

void ScalarizedBlock::emit(const Op& op) {
  if (op.info().has_effect || !std::all_of(op.operands.begin(), op.operands.end(), is_array))
    return fail();
  for (const Value* v : op.results())
    if (!is_array(v)) return fail();
  const op::Lowering& lowering = op::def(op).lowering;
  if (const auto* rule = std::get_if<op::Elementwise>(&lowering)) return elementwise(op, *rule);
  if (const auto* rule = std::get_if<op::Reduction (*)(const Op&)>(&lowering))
    return reduce(op, (**rule)(op));
  if (const auto* rule = std::get_if<op::Contraction (*)(const Op&)>(&lowering))
    return product(op, (**rule)(op));
  if (const auto* rule = std::get_if<op::Update>(&lowering)) return update(op, *rule);
  const auto* structured = std::get_if<op::Structured>(&lowering);
  if (structured && structured->kind == op::Structured::Kind::while_) return while_loop(op);
  if (structured && structured->kind == op::Structured::Kind::scan) return scan(op);
  if (structured && structured->kind == op::Structured::Kind::case_) return branch(op);
  fail();
}

void ScalarizedBlock::elementwise(const Op& op, const op::Elementwise& rule) {
  for (int r = 0; r < op.num_results(); ++r) {
    const Value* v = op.result(r);
    if (!is_small(v)) return fail();
    Elements out;
    for_each(v->shape().sizes(), [&](std::span<const Index> index) {
      out.push_back(rule.element(*this, op, r, index));
    });
    set(v, std::move(out));
  }
}

// ---- reductions, in the order of op/reduce/reduce_order.h

void ScalarizedBlock::reduce(const Op& op, op::Reduction rule) {
  const Value* x = op.operand(0);
  std::sort(rule.dims.begin(), rule.dims.end());
  std::vector<int> kept = others(x->rank(), rule.dims);
  for (const Value* v : op.results())
    if (!is_small(v)) return fail();
  if (x->shape().count() > kMostReduced) return fail();
  std::vector<Elements> out(static_cast<std::size_t>(op.num_results()));
  for_each(sizes_of(x, kept), [&](std::span<const Index> output) {
    std::vector<std::vector<Index>> places;
    for_each(sizes_of(x, rule.dims), [&](std::span<const Index> k) {
      places.emplace_back(static_cast<std::size_t>(x->rank()));
      place(places.back(), kept, output);
      place(places.back(), rule.dims, k);
    });
    Elements results = rule.combiner == op::Combiner::region
                           ? reduce_by_region(op, places)
                           : Elements{reduce_plain(op, rule, places)};
    for (std::size_t r = 0; r < out.size() && !failed_; ++r) out[r].push_back(results[r]);
  });
  for (int r = 0; r < op.num_results(); ++r)
    set(op.result(r), std::move(out[static_cast<std::size_t>(r)]));
}

/// A lane that holds nothing but the neutral element is null: combined with another it changes
/// nothing, for that has met the neutral element already.
Inst* ScalarizedBlock::reduce_plain(const Op& op, const op::Reduction& rule,
                                    const std::vector<std::vector<Index>>& places) {
  DType dtype = op.operand(0)->dtype();
  Opcode code = op::opcode(rule.combiner, dtype);
  op::ReduceOrder order = op::reduce_order(op.operand(0)->type(), rule.dims);
  Inst* total = neutral(b, rule.combiner, dtype);
  auto combined = [&](Inst* x, Inst* y) { return !y ? x : x ? b.binary(code, x, y) : y; };
  STRATA_CHECK(!order.is_long(), "{} elements in one expression", order.count);
  for (std::int64_t c = 0; c < order.chunks(); ++c) {
    std::vector<Inst*> lanes(static_cast<std::size_t>(order.lanes), nullptr);
    for (std::int64_t k = order.begin(c); k < order.end(c); ++k) {
      Inst*& lane = lanes[static_cast<std::size_t>((k - order.begin(c)) % order.lanes)];
      Inst* element = widen(b, dtype, at(op.operand(0), places[static_cast<std::size_t>(k)]));
      lane = b.binary(code, lane ? lane : neutral(b, rule.combiner, dtype), element);
    }
    for (std::size_t half = lanes.size() / 2; half >= 1; half /= 2)
      for (std::size_t i = 0; i < half; ++i) lanes[i] = combined(lanes[i], lanes[i + half]);
    if (lanes[0]) total = b.binary(code, total, lanes[0]);
  }
  return b.convert(op.result()->dtype(),
                   b.binary(code, widen(b, dtype, at(op.operand(1), {})), total));
}

Elements ScalarizedBlock::reduce_by_region(const Op& op,
                                           const std::vector<std::vector<Index>>& places) {
  const Block& region = op.region(0);
  std::size_t n = static_cast<std::size_t>(op.num_results());
  Elements state;
  auto operand_at = [&](std::size_t i, std::size_t r, std::span<const Index> index) {
    return b.convert(op.result(static_cast<int>(r))->dtype(), at(op.operands[i], index));
  };
  for (std::size_t r = 0; r < n; ++r) state.push_back(operand_at(n + r, r, {}));
  auto extremum = op::arg_extremum(region);
  for (const auto& index : places) {
    Elements element;
    for (std::size_t r = 0; r < n; ++r) element.push_back(operand_at(r, r, index));
    if (extremum) {
      state = op::lower_extremum(b, extremum->maximum, state, element);
      continue;
    }
    for (std::size_t r = 0; r < n; ++r) {
      set(region.argument(static_cast<int>(r)), {state[r]});
      set(region.argument(static_cast<int>(n + r)), {element[r]});
    }
    std::vector<Elements> next = run(region);
    for (std::size_t r = 0; r < n && !failed_; ++r) state[r] = next[r][0];
  }
  return state;
}

// ---- products: one chain over k for each element (docs/decision/0005)

void ScalarizedBlock::product(const Op& op, const op::Contraction& rule) {
  const Value *l = op.operand(0), *r = op.operand(1);
  std::vector<int> l_free = others(l->rank(), rule.lhs_batch, rule.lhs_contract),
                   r_free = others(r->rank(), rule.rhs_batch, rule.rhs_contract);
  std::vector<std::int64_t> batch = sizes_of(l, rule.lhs_batch), rows = sizes_of(l, l_free),
                            columns = sizes_of(r, r_free), sums = sizes_of(l, rule.lhs_contract);
  std::int64_t terms = op.result()->shape().count();
  for (std::int64_t k : sums) terms *= k;
  if (!is_small(op.result()) || terms > kMostReduced || op::sum_chains(op)) return fail();
  DType acc = op::product_accumulator(op);
  Opcode add = op::opcode(op::Combiner::add, acc), mul = op::opcode(op::Combiner::mul, acc);
  std::vector<Index> left(static_cast<std::size_t>(l->rank())),
      right(static_cast<std::size_t>(r->rank()));
  Elements out, given;
  if (const Value* sums = given_sums(op)) given = elements(sums);
  if (failed_) return;
  auto element = [&] {
    Inst* sum = given.empty() ? b.constant(acc, 0.0) : given[out.size()];
    for_each(sums, [&](std::span<const Index> k) {
      place(left, rule.lhs_contract, k);
      place(right, rule.rhs_contract, k);
      Inst *x = b.convert(acc, at(l, left)), *y = b.convert(acc, at(r, right));
      sum = is_float(acc) ? b.fma(x, y, sum) : b.binary(add, sum, b.binary(mul, x, y));
    });
    out.push_back(b.convert(op.result()->dtype(), sum));
  };
  for_each(batch, [&](std::span<const Index> g) {
    place(left, rule.lhs_batch, g);
    place(right, rule.rhs_batch, g);
    for_each(rows, [&](std::span<const Index> m) {
      place(left, l_free, m);
      for_each(columns, [&](std::span<const Index> n) {
        place(right, r_free, n);
        element();
      });
    });
  });
  set(op.result(), std::move(out));
}

// ---- updates: in place where the array is in memory, through memory of their own where it is
// values

void ScalarizedBlock::update(const Op& op, const op::Update& rule) {
  std::int64_t points = rule.grid(op);
  bool few = std::all_of(op.operands.begin() + op.num_results(), op.operands.end(), is_small);
  if (points > kMostPoints || !few) return fail();
  std::vector<loop::Ref*> targets;
  for (const Value* v : op.results()) {
    const Value* old = op.operand(v->index());
    auto in_memory = memory_.find(old);
    if (in_memory != memory_.end()) {
      bool alone = std::count(op.operands.begin(), op.operands.end(), old) == 1;
      if (!lies_in(old, in_memory->second) || in_memory->second->mode == loop::Ref::Mode::in ||
          !alone)
        return fail();
      targets.push_back(in_memory->second);
      continue;
    }
    Elements now = elements(old);
    if (failed_ || now.empty()) return fail();
    targets.push_back(b.scratch(v->dtype(), static_cast<std::int64_t>(now.size())));
    for (std::size_t i = 0; i < now.size(); ++i)
      b.store(targets.back(), static_cast<std::int64_t>(i), now[i]);
  }
  for (std::int64_t point = 0; point < points; ++point) rule.emit(*this, op, targets, point);
  for (const Value* v : op.results()) {
    loop::Ref* target = targets[static_cast<std::size_t>(v->index())];
    if (target->mode != loop::Ref::Mode::scratch) {
      overwritten_.insert(op.operand(v->index()));
      set_memory(v, target);
      continue;
    }
    Elements out;
    for (std::int64_t i = 0; i < v->shape().count(); ++i) out.push_back(b.load(target, i));
    set(v, std::move(out));
  }
}

// ---- loops and branches inside

void ScalarizedBlock::while_loop(const Op& op) {
  const Block &condition = op.region(0), &body = op.region(1);
  std::vector<Elements> carries;
  for (const Value* v : op.operands) carries.push_back(locals(elements(v)));
  auto enter = [&](const Block& block) {
    for (std::size_t i = 0; i < carries.size(); ++i)
      set(block.argument(static_cast<int>(i)), now(carries[i]));
    return run(block);
  };
  if (failed_) return;
  b.while_(
      [&] {
        std::vector<Elements> holds = enter(condition);
        return failed_ ? b.constant_bits(DType::i1, 0) : holds[0][0];
      },
      [&] {
        std::vector<Elements> next = enter(body);
        for (std::size_t i = 0; i < carries.size(); ++i) assign(carries[i], next[i]);
      });
  for (int r = 0; r < op.num_results(); ++r)
    set(op.result(r), now(carries[static_cast<std::size_t>(r)]));
}

void ScalarizedBlock::scan(const Op& op) {
  op::ScanParts parts(op);
  const Block& body = parts.body;
  std::size_t slices = parts.consts + parts.carries;
  auto argument = [&](std::size_t i) { return body.argument(static_cast<int>(i)); };
  for (std::size_t i = 0; i < parts.consts; ++i) {
    if (is_small(op.operands[i]))
      set(argument(i), elements(op.operands[i]));
    else
      same_[argument(i)] = op.operands[i];
  }
  std::vector<Elements> carries;
  for (std::size_t i = parts.consts; i < slices; ++i)
    carries.push_back(locals(elements(op.operands[i])));
  std::vector<loop::Ref*> stacks;
  for (std::size_t y = parts.carries; y < body.results.size(); ++y) {
    const Value* v = op.result(static_cast<int>(y));
    if (!is_small(v) || v->shape().count() == 0) return fail();
    stacks.push_back(b.scratch(v->dtype(), v->shape().count()));
  }
  if (failed_) return;
  b.for_(0, parts.length, 1, [&](Index i) {
    Index turn = parts.reverse ? Index(parts.length - 1) - i : i;
    for (std::size_t c = 0; c < carries.size(); ++c)
      set(argument(parts.consts + c), now(carries[c]));
    for (std::size_t x = slices; x < op.operands.size(); ++x) {
      Elements slice;
      if (!is_small(argument(x))) return fail();
      for_each(argument(x)->shape().sizes(), [&](std::span<const Index> index) {
        std::vector<Index> whole{turn};
        whole.insert(whole.end(), index.begin(), index.end());
        slice.push_back(at(op.operands[x], whole));
      });
      set(argument(x), std::move(slice));
    }
    std::vector<Elements> results = run(body);
    if (failed_) return;
    for (std::size_t y = 0; y < stacks.size(); ++y) {
      const Elements& slice = results[parts.carries + y];
      auto count = static_cast<std::int64_t>(slice.size());
      for (std::int64_t k = 0; k < count; ++k)
        b.store(stacks[y], turn * count + k, slice[static_cast<std::size_t>(k)]);
    }
    for (std::size_t c = 0; c < carries.size(); ++c) assign(carries[c], results[c]);
  });
  for (std::size_t r = 0; r < static_cast<std::size_t>(op.num_results()); ++r) {
    Elements out;
    if (r < carries.size()) {
      out = now(carries[r]);
    } else {
      for (std::int64_t k = 0; k < op.result(static_cast<int>(r))->shape().count(); ++k)
        out.push_back(b.load(stacks[r - carries.size()], k));
    }
    set(op.result(static_cast<int>(r)), std::move(out));
  }
}

void ScalarizedBlock::branch(const Op& op) {
  std::vector<Elements> results;
  for (const Value* v : op.results()) {
    if (!is_small(v)) return fail();
    results.push_back(locals(Elements(static_cast<std::size_t>(v->shape().count()), zero(v))));
  }
  Inst* index = at(op.operand(0), {});
  std::function<void(int)> from = [&](int i) {
    auto take = [&] {
      std::vector<Elements> values = run(op.region(i));
      for (std::size_t r = 0; r < results.size(); ++r) assign(results[r], values[r]);
    };
    if (i + 1 == static_cast<int>(op.regions.size())) return take();
    bool chosen = is_bool(index->type.dtype);
    b.if_(
        chosen ? index : b.compare(loop::Compare::eq, index, b.constant_int(index->type.dtype, i)),
        take, [&] { from(i + 1); });
  };
  from(0);
  for (int r = 0; r < op.num_results(); ++r)
    set(op.result(r), now(results[static_cast<std::size_t>(r)]));
}

}  // namespace strata::compile
