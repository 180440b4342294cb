#include "strata/op/lower_region.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "strata/loop/pieces.h"
#include "strata/op/control/scan.h"
#include "strata/op/reduce/combiner.h"
#include "strata/op/reduce/reduce.h"

namespace strata::op {
namespace {

bool is_scalar(const Value* v) {
  return v->type().is_tensor() && v->rank() == 0 && loop::is_loop_dtype(v->dtype());
}
bool is_array(const Value* v) {
  return v->type().is_tensor() && v->shape().is_static() && loop::is_loop_dtype(v->dtype());
}

const Structured* structured(const Op& op) { return std::get_if<Structured>(&def(op).lowering); }
using ReductionRule = Reduction (*)(const Op&);
const ReductionRule* reduction(const Op& op) {
  return std::get_if<ReductionRule>(&def(op).lowering);
}

Emission least(Emission a, Emission b) { return std::min(a, b); }

Emission emission_of(const Op& op, std::int64_t most) {
  if (op.info().has_effect || !std::all_of(op.operands.begin(), op.operands.end(), is_array))
    return Emission::none;
  for (const Value* v : op.results())
    if (!is_array(v)) return Emission::none;
  if (std::holds_alternative<Elementwise>(def(op).lowering)) return Emission::lanes;
  bool loops = structured(op) != nullptr;
  if (loops && structured(op)->kind == Structured::Kind::scan && ScanParts(op).ys > 0)
    return Emission::none;
  if (reduction(op)) loops = op.operand(0)->shape().count() <= most;
  if (!loops) return Emission::none;
  Emission out = Emission::branches;
  for (const auto& region : op.regions) out = least(out, emission(*region, most));
  return out;
}

/// Emits blocks one inside another.
class RegionContext : public LowerContext {
 public:
  explicit RegionContext(LowerContext& outer) : LowerContext(outer.b), outer_(outer) {}

  loop::Inst* operand(const Op& op, int i, std::span<const loop::Index> index) override {
    return at(op.operand(i), index);
  }

  /// Scalars are computed where their operation stands, elements of arrays where they are read.
  loop::Inst* at(const Value* v, std::span<const loop::Index> index) override {
    if (auto it = scalars_.find(v); it != scalars_.end()) return it->second;
    if (blocks_.count(v->block()) == 0) return outer_.at(v, index);
    for (const Known& k : known_[v])
      if (std::equal(index.begin(), index.end(), k.index.begin()) && b.is_open(k.body) &&
          k.guards == b.guards())
        return k.inst;
    const Op& op = *v->op();
    loop::Inst* element =
        reduction(op)
            ? reduce(op, index)[static_cast<std::size_t>(v->index())]
            : std::get<Elementwise>(def(op).lowering).element(*this, op, v->index(), index);
    known_[v].push_back({{index.begin(), index.end()}, element, b.current(), b.guards()});
    return element;
  }

  std::vector<loop::Inst*> run(const Block& block, std::span<loop::Inst* const> arguments) {
    STRATA_CHECK(block.arguments().size() == arguments.size(), "{} arguments for a region of {}",
                 arguments.size(), block.num_arguments());
    blocks_.insert(&block);
    known_.clear();  // elements of this block's arrays may have been computed from other arguments
    for (std::size_t i = 0; i < arguments.size(); ++i)
      scalars_[block.argument(static_cast<int>(i))] = arguments[i];
    for (const auto& op : block.ops()) step(*op);
    std::vector<loop::Inst*> results;
    for (const Value* v : block.results) results.push_back(at(v, {}));
    return results;
  }

 private:
  using Insts = std::vector<loop::Inst*>;
  /// An element of an array, and where its instruction may be used.
  struct Known {
    std::vector<loop::Index> index;
    loop::Inst* inst;
    const loop::Body* body;
    Insts guards;
  };

  void step(const Op& op) {
    if (op.num_results() > 0 && op.result()->rank() > 0) return;
    Insts results;
    if (reduction(op)) {
      results = reduce(op, {});
    } else if (const Structured* s = structured(op)) {
      switch (s->kind) {
        case Structured::Kind::while_: results = while_loop(op); break;
        case Structured::Kind::case_: results = branch(op); break;
        case Structured::Kind::scan: results = scan(op); break;
        case Structured::Kind::call: results = run(op.region(0), operands(op)); break;
      }
    } else {
      const Elementwise* elemental = std::get_if<Elementwise>(&def(op).lowering);
      STRATA_CHECK(elemental != nullptr, "{} cannot be emitted into a kernel", op.name());
      for (int r = 0; r < op.num_results(); ++r)
        results.push_back(elemental->element(*this, op, r, {}));
    }
    for (int r = 0; r < op.num_results(); ++r)
      scalars_[op.result(r)] = results[static_cast<std::size_t>(r)];
  }

  Insts operands(const Op& op) {
    Insts out;
    for (const Value* v : op.operands) out.push_back(at(v, {}));
    return out;
  }
  Insts locals(const Insts& initial) {
    Insts out;
    for (loop::Inst* x : initial) out.push_back(b.local(x));
    return out;
  }
  Insts now(const Insts& locals) {
    Insts out;
    for (loop::Inst* l : locals) out.push_back(b.get(l));
    return out;
  }
  void assign(const Insts& locals, const Insts& values) {
    for (std::size_t i = 0; i < locals.size(); ++i) b.set(locals[i], values[i]);
  }

  Insts while_loop(const Op& op) {
    Insts carries = locals(operands(op));
    b.while_([&] { return run(op.region(0), now(carries))[0]; },
             [&] { assign(carries, run(op.region(1), now(carries))); });
    return now(carries);
  }

  Insts scan(const Op& op) {
    ScanParts parts(op);
    Insts consts, initial;
    for (std::size_t i = 0; i < parts.consts + parts.carries; ++i)
      (i < parts.consts ? consts : initial).push_back(at(op.operands[i], {}));
    Insts carries = locals(initial);
    b.for_(0, parts.length, 1, [&](loop::Index i) {
      std::vector<loop::Index> place{parts.reverse ? loop::Index(parts.length - 1) - i : i};
      Insts arguments = consts;
      for (loop::Inst* c : now(carries)) arguments.push_back(c);
      for (std::size_t x = parts.consts + parts.carries; x < op.operands.size(); ++x)
        arguments.push_back(at(op.operands[x], place));
      assign(carries, run(parts.body, arguments));
    });
    return now(carries);
  }

  Insts branch(const Op& op) {
    Insts results;
    for (const Value* v : op.results()) results.push_back(b.local(b.constant_bits(v->dtype(), 0)));
    loop::Inst* index = at(op.operand(0), {});
    bool predicate = is_bool(index->type.dtype);
    std::function<void(int)> from = [&](int i) {
      auto take = [&] { assign(results, run(op.region(i), {})); };
      if (i + 1 == static_cast<int>(op.regions.size())) return take();
      loop::Inst* chosen =
          predicate ? index
                    : b.compare(loop::Compare::eq, index, b.constant_int(index->type.dtype, i));
      b.if_(chosen, take, [&] { from(i + 1); });
    };
    from(0);
    return now(results);
  }

  // ---- reductions: one output, in the order of op/reduce/reduce_order.h

  Insts reduce(const Op& op, std::span<const loop::Index> kept) {
    Reduction rule = (*reduction(op))(op);
    std::sort(rule.dims.begin(), rule.dims.end());
    return rule.combiner == Combiner::region ? reduce_by_region(op, rule, kept)
                                             : Insts{reduce_plain(op, rule, kept)};
  }

  std::vector<loop::Index> place(const Op& op, const Reduction& rule,
                                 std::span<const loop::Index> kept, const loop::Index& k) {
    std::vector<loop::Index> out;
    std::size_t next = 0;
    for (int d = 0; d < op.operand(0)->rank(); ++d)
      out.push_back(std::binary_search(rule.dims.begin(), rule.dims.end(), d) ? loop::Index(0)
                                                                              : kept[next++]);
    loop::Index rest = k;
    for (std::size_t i = rule.dims.size(); i-- > 0;) {
      std::int64_t size = std::max<std::int64_t>(op.operand(0)->shape()[rule.dims[i]], 1);
      out[static_cast<std::size_t>(rule.dims[i])] = i == 0 ? rest : b.mod(rest, size);
      if (i > 0) rest = b.div(rest, size);
    }
    return out;
  }

  loop::Inst* reduce_plain(const Op& op, const Reduction& rule, std::span<const loop::Index> kept) {
    DType dtype = op.operand(0)->dtype(), wide = accumulator(dtype);
    loop::Opcode code = opcode(rule.combiner, dtype);
    Literal identity_bits = identity(rule.combiner, wide);
    std::uint64_t bits = 0;
    std::memcpy(&bits, identity_bits.data(), identity_bits.bytes());
    loop::Inst* neutral = b.constant_bits(wide, bits);
    ReduceOrder order = reduce_order(op.operand(0)->type(), rule.dims);
    const DType total_type = order.is_long() ? DType::f64 : wide;
    loop::Inst *total = b.local(b.convert(total_type, neutral)),
               *chunk = order.is_long() ? b.local(b.convert(total_type, neutral)) : nullptr;
    loop::Ref* lanes = b.scratch(wide, order.lanes);
    auto take = [&](loop::Inst* into, loop::Inst* more) {
      b.set(into, b.binary(opcode(rule.combiner, total_type == wide ? dtype : total_type),
                           b.get(into), b.convert(total_type, more)));
    };
    auto piece = [&](const loop::Index& begin, std::int64_t length) {
      b.for_(0, order.lanes, 1, [&](loop::Index l) { b.store(lanes, l, neutral); });
      b.for_(0, length, 1, [&](loop::Index k) {
        loop::Index lane = b.mod(k, order.lanes);
        loop::Inst* element = b.convert(wide, at(op.operand(0), place(op, rule, kept, k + begin)));
        b.store(lanes, lane, b.binary(code, b.load(lanes, lane), element));
      });
      for (int half = order.lanes / 2; half >= 1; half /= 2)
        b.for_(0, half, 1, [&](loop::Index l) {
          b.store(lanes, l, b.binary(code, b.load(lanes, l), b.load(lanes, l + half)));
        });
      take(chunk ? chunk : total, b.load(lanes, 0));
    };
    loop::for_pieces(b, 0, order.count, order.chunk, [&](loop::Index begin, std::int64_t length) {
      if (!chunk) return piece(begin, length);
      b.set(chunk, b.convert(total_type, neutral));
      loop::for_pieces(b, begin, length, order.piece, piece);
      take(total, b.get(chunk));
    });
    return b.convert(op.result()->dtype(), b.binary(code, b.convert(wide, at(op.operand(1), {})),
                                                    b.convert(wide, b.get(total))));
  }

  Insts reduce_by_region(const Op& op, const Reduction& rule, std::span<const loop::Index> kept) {
    int n = op.num_results();
    std::vector<int> counted = rule.dims;
    Insts initial;
    for (int i = 0; i < n; ++i)
      initial.push_back(b.convert(op.result(i)->dtype(), at(op.operand(n + i), {})));
    Insts state = locals(initial);
    b.for_(0, reduce_order(op.operand(0)->type(), counted).count, 1, [&](loop::Index k) {
      Insts elements;
      for (int i = 0; i < n; ++i)
        elements.push_back(
            b.convert(op.result(i)->dtype(), at(op.operand(i), place(op, rule, kept, k))));
      assign(state, combine_elements(op, now(state), elements));
    });
    return now(state);
  }

  Insts combine_elements(const Op& op, Insts state, const Insts& elements) {
    if (auto extremum = arg_extremum(op.region(0)))
      return lower_extremum(b, extremum->maximum, state, elements);
    state.insert(state.end(), elements.begin(), elements.end());
    return run(op.region(0), state);
  }

  LowerContext& outer_;
  std::unordered_map<const Value*, loop::Inst*> scalars_;       // lookup only
  std::unordered_map<const Value*, std::vector<Known>> known_;  // lookup only
  std::unordered_set<const Block*> blocks_;                     // those under way or done
};

}  // namespace

Emission emission(const Block& region, std::int64_t most) {
  for (const auto& a : region.arguments())
    if (!is_scalar(a.get())) return Emission::none;
  for (const Value* v : region.results)
    if (!is_scalar(v)) return Emission::none;
  Emission out = Emission::lanes;
  for (const auto& op : region.ops()) out = least(out, emission_of(*op, most));
  return out;
}

bool regions_fit_kernels(const Op& op) {
  if (structured(op)) return true;
  return std::all_of(op.regions.begin(), op.regions.end(),
                     [](const auto& r) { return emission(*r) != Emission::none; });
}

std::vector<loop::Inst*> lower_region(LowerContext& context, const Block& region,
                                      std::span<loop::Inst* const> arguments) {
  return RegionContext(context).run(region, arguments);
}

}  // namespace strata::op
