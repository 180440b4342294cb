// Derivative, transposition and batching of strata.scan.
#include <algorithm>
#include <unordered_set>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/calculus/jvp.h"
#include "strata/op/calculus/linearize.h"
#include "strata/op/calculus/support.h"
#include "strata/op/calculus/transpose.h"
#include "strata/op/control.h"
#include "strata/op/control/scan.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

using Flags = std::vector<bool>;

// Applies `step` to the carries' flags until nothing is added. `step` returns flags of the body's
// results.
template <class Step>
Flags fixpoint(Flags carries, Step&& step) {
  for (;;) {
    Flags next = either(carries, part(step(carries), 0, carries.size()));
    if (next == carries) return carries;
    carries = std::move(next);
  }
}

Flags pad_false(Flags flags, std::size_t more) {
  flags.resize(flags.size() + more, false);
  return flags;
}

std::vector<int> indices(std::size_t from, std::size_t count) {
  std::vector<int> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(static_cast<int>(from + i));
  return out;
}

std::size_t count(const Flags& flags) {
  return static_cast<std::size_t>(std::count(flags.begin(), flags.end(), true));
}

Values list(std::span<Value* const> values) { return {values.begin(), values.end()}; }

// ---- splitting a body by what is known ---------------------------------------------------------

// A scan in two: `known` runs first and stacks what the linear one needs from each step.
struct Halves {
  Values results;               // of the known scan
  std::shared_ptr<Block> body;  // of the linear scan: (residual consts, linear consts, linear
                                // carries, residual xs, linear xs)
  Values consts, xs;            // the residuals
};

// Values of `body` that do not change from step to step: those computed from consts alone.
std::unordered_set<const Value*> varying_values(const Block& body, std::size_t consts) {
  std::unordered_set<const Value*> varying;
  for (const auto& a : body.arguments())
    if (static_cast<std::size_t>(a->index()) >= consts) varying.insert(a.get());
  for (const auto& op : body.ops())
    if (op->info().has_effect || uses_any(*op, varying))
      for (Value* v : op->results()) varying.insert(v);
  return varying;
}

// Computes invariant values of the body in front of the loop, on its consts.
class Hoist {
 public:
  Hoist(Builder& b, const Block& body, const Values& consts) : b_(b) {
    for (std::size_t i = 0; i < consts.size(); ++i)
      map_.set(body.argument(static_cast<int>(i)), consts[i]);
  }
  Value* operator()(Value* v) {
    if (Value* known = map_.find(v)) return known;
    STRATA_CHECK(v->op() != nullptr, "a step's value outside of its loop");
    for (Value* x : v->op()->operands) (*this)(x);
    for (const auto& region : v->op()->regions)
      for (Value* x : ir::captures(*region)) (*this)(x);
    ir::clone(b_, *v->op(), map_);
    return map_.find(v);
  }

 private:
  Builder& b_;
  ir::ValueMap map_;
};

// Operands of the known scan, one per argument of its body.
struct KnownOperands {
  Values consts, carries, xs;
};

// `known`: body of the known scan, its results emitted already. `linear`: captures residuals of
// `known`; its arguments are the linear consts, carries and xs, of the first two `linear_consts`
// and `linear_carries`.
Halves split_scan(Builder& b, const KnownOperands& from, BlockPtr known, const Block& linear,
                  std::size_t linear_consts, std::size_t linear_carries, ScanOptions options) {
  std::size_t first_x = from.consts.size() + from.carries.size();
  std::unordered_set<const Value*> varying = varying_values(*known, from.consts.size());
  Hoist hoist(b, *known, from.consts);
  Halves out;
  Values const_residuals, x_residuals, stacked;
  for (Value* v : ir::captures(linear)) {
    if (!varying.count(v)) {
      const_residuals.push_back(v);
      out.consts.push_back(hoist(v));
    } else if (!v->op() && static_cast<std::size_t>(v->index()) >= first_x) {
      x_residuals.push_back(v);
      out.xs.push_back(from.xs[static_cast<std::size_t>(v->index()) - first_x]);
    } else {
      stacked.push_back(v);
    }
  }
  out.body = std::make_shared<Block>();
  ir::ValueMap map;
  Values arguments;
  auto add_linear = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      arguments.push_back(out.body->add_argument(linear.argument(static_cast<int>(i))->type()));
  };
  for (Value* v : const_residuals) map.set(v, out.body->add_argument(v->type()));
  add_linear(0, linear_consts + linear_carries);
  for (Value* v : joined(x_residuals, stacked)) map.set(v, out.body->add_argument(v->type()));
  add_linear(linear_consts + linear_carries, static_cast<std::size_t>(linear.num_arguments()));
  Builder lb(*out.body);
  out.body->results = ir::inline_block(lb, linear, arguments, map);

  // What is stacked for the caller already is not stacked twice.
  std::size_t primal = known->results.size();
  std::vector<std::size_t> places;
  for (Value* v : stacked) {
    auto first_y = known->results.begin() + static_cast<std::ptrdiff_t>(from.carries.size());
    auto place = std::find(first_y, known->results.end(), v);
    places.push_back(static_cast<std::size_t>(place - known->results.begin()));
    if (place == known->results.end()) known->results.push_back(v);
  }
  ir::remove_dead(*known);
  out.results = scan(b, std::move(known), from.consts, from.carries, from.xs, options);
  for (std::size_t place : places) out.xs.push_back(out.results[place]);
  out.results.resize(primal);
  return out;
}

// ---- transposition -----------------------------------------------------------------------------

// A body all of whose carries are linear, turned around: (consts..., ct of carries..., sums for
// linear consts..., xs..., ct of ys...) -> (ct of carries..., sums..., ct of linear xs...).
struct Reversed {
  BlockPtr body;
  Flags carries, sums, xs;  // which have cotangents: of the carries, of the consts, of the xs
};

Reversed reverse_body(const ScanParts& s, const Flags& linear, const Flags& carry_ct,
                      const Flags& y_ct) {
  Reversed out{std::make_unique<Block>(), {}, {}, {}};
  Block& body = *out.body;
  Values operands, cotangents, sums;
  for (std::size_t i = 0; i < s.consts; ++i)
    operands.push_back(linear[i] ? nullptr
                                 : body.add_argument(s.body.argument(static_cast<int>(i))->type()));
  for (std::size_t i = 0; i < s.carries; ++i) {
    operands.push_back(nullptr);
    cotangents.push_back(carry_ct[i] ? body.add_argument(s.body.results[i]->type()) : nullptr);
  }
  for (std::size_t i = 0; i < s.consts; ++i)
    sums.push_back(linear[i] ? body.add_argument(s.body.argument(static_cast<int>(i))->type())
                             : nullptr);
  for (std::size_t i = s.consts + s.carries; i < linear.size(); ++i)
    operands.push_back(linear[i] ? nullptr
                                 : body.add_argument(s.body.argument(static_cast<int>(i))->type()));
  for (std::size_t i = 0; i < s.ys; ++i)
    cotangents.push_back(y_ct[i] ? body.add_argument(s.body.results[s.carries + i]->type())
                                 : nullptr);

  Flags all = linear;
  for (std::size_t i = 0; i < s.carries; ++i) all[s.consts + i] = true;
  Builder b(body);
  Values ct = transpose(b, s.body, operands, all, cotangents);
  out.sums = present(s.const_part(ct));
  out.carries = either(carry_ct, present(s.carry_part(ct)));
  out.xs = present(s.xs_part(ct));
  for (std::size_t i = 0; i < s.carries; ++i)
    if (out.carries[i])
      body.results.push_back(or_zeros(b, ct[s.consts + i], s.body.results[i]->type()));
  Flags keep(static_cast<std::size_t>(body.num_arguments()), true);
  for (std::size_t i = 0; i < s.consts; ++i) {
    if (out.sums[i]) body.results.push_back(add(b, sums[i], ct[i]));
    if (linear[i] && !out.sums[i]) keep[static_cast<std::size_t>(sums[i]->index())] = false;
  }
  append(body.results, filter(s.xs_part(ct), out.xs));
  ir::remove_dead(body);
  body.filter_arguments(keep);
  return out;
}

// A scan all of whose carries are linear.
Values transpose_linear(Builder& b, const ScanParts& s, std::span<Value* const> operands,
                        const Flags& linear, std::span<Value* const> cotangents) {
  Values carry_ct(cotangents.begin(), cotangents.begin() + static_cast<std::ptrdiff_t>(s.carries));
  Values y_ct(cotangents.begin() + static_cast<std::ptrdiff_t>(s.carries), cotangents.end());
  Reversed r{nullptr, {}, {}, {}};
  fixpoint(present(carry_ct), [&](const Flags& flags) {
    r = reverse_body(s, linear, flags, present(y_ct));
    return r.carries;
  });
  Values consts, xs, carries;
  for (std::size_t i = 0; i < s.consts; ++i)
    if (!linear[i]) consts.push_back(operands[i]);
  for (std::size_t i = 0; i < s.carries; ++i)
    if (r.carries[i]) carries.push_back(or_zeros(b, carry_ct[i], s.body.results[i]->type()));
  for (std::size_t i = 0; i < s.consts; ++i)
    if (r.sums[i]) carries.push_back(zeros(b, s.body.argument(static_cast<int>(i))->type()));
  for (std::size_t i = s.consts + s.carries; i < linear.size(); ++i)
    if (!linear[i]) xs.push_back(operands[i]);
  append(xs, filter(y_ct, present(y_ct)));
  std::size_t n_carries = count(r.carries), n_sums = count(r.sums);
  Values results = scan(b, std::move(r.body), consts, carries, xs, {s.length, !s.reverse});
  Values out = spread(part(results, n_carries, n_sums), r.sums);
  append(out, spread(part(results, 0, n_carries), r.carries));
  append(out, spread(part(results, n_carries + n_sums, results.size() - n_carries - n_sums), r.xs));
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!linear[i]) out[i] = nullptr;
  return out;
}

// The operations of the body that depend on linear arguments, as a block on those alone; the others
// are emitted into `known`. A linear carry whose new value does not depend on them is zero from the
// second step on.
BlockPtr dependent_part(const Block& body, const Flags& linear, const Flags& linear_carries,
                        Builder& known, Values& known_results, Flags& linear_results) {
  auto out = std::make_unique<Block>();
  Builder lb(*out);
  std::unordered_set<const Value*> dependent;
  ir::ValueMap map;
  for (const auto& a : body.arguments()) {
    bool is_linear = linear[static_cast<std::size_t>(a->index())];
    map.set(a.get(), (is_linear ? *out : known.block()).add_argument(a->type()));
    if (is_linear) dependent.insert(a.get());
  }
  for (const auto& op : body.ops()) {
    bool is_linear = uses_any(*op, dependent);
    ir::clone(is_linear ? lb : known, *op, map);
    if (is_linear)
      for (Value* v : op->results()) dependent.insert(v);
  }
  for (std::size_t i = 0; i < body.results.size(); ++i) {
    Value* v = body.results[i];
    bool is_linear = dependent.count(v) != 0,
         must_be = i < linear_carries.size() && linear_carries[i];
    linear_results.push_back(is_linear || must_be);
    if (is_linear || must_be)
      out->results.push_back(is_linear ? map(v) : zeros(lb, v->type()));
    else
      known_results.push_back(map(v));
  }
  return out;
}

// Some carries do not depend on linear values (a counter, say): they run first, and the rest is a
// scan of linear carries.
Values transpose_mixed(Builder& b, const ScanParts& s, std::span<Value* const> operands,
                       const Flags& linear, const Flags& linear_carries,
                       std::span<Value* const> cotangents) {
  Flags all = joined(joined(s.const_part(linear), linear_carries), s.xs_part(linear));
  Flags known_flags = all, linear_results;
  known_flags.flip();
  auto known = std::make_unique<Block>();
  Builder kb(*known);
  Values known_results;
  BlockPtr rest = dependent_part(s.body, all, linear_carries, kb, known_results, linear_results);
  known_results.resize(
      s.carries -
      count(linear_carries));  // ys that do not depend on linear values get no cotangent
  known->results = known_results;
  Values ops = list(operands);
  KnownOperands from{filter(s.const_part(ops), s.const_part(known_flags)),
                     filter(s.carry_part(ops), s.carry_part(known_flags)),
                     filter(s.xs_part(ops), s.xs_part(known_flags))};
  std::size_t n_consts = count(s.const_part(all)), n_carries = count(linear_carries);
  Halves split =
      split_scan(b, from, std::move(known), *rest, n_consts, n_carries, {s.length, s.reverse});
  ScanParts linear_scan(*split.body, split.consts.size() + n_consts, n_carries, s.length,
                        s.reverse);
  Values residuals = joined(joined(split.consts, Values(n_consts + n_carries, nullptr)), split.xs);
  residuals.resize(static_cast<std::size_t>(split.body->num_arguments()), nullptr);
  Flags is_linear = present(residuals);
  is_linear.flip();
  Values ct = transpose_linear(b, linear_scan, residuals, is_linear,
                               filter(list(cotangents), linear_results));
  Values out = spread(filter(ct, is_linear), all);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!linear[i]) out[i] = nullptr;
  return out;
}

}  // namespace

JvpResult scan_jvp(Builder& b, const Op& op, std::span<Value* const> operands,
                   std::span<Value* const> tangents) {
  ScanParts s(op);
  Values primals = list(operands), ts = list(tangents);
  Flags active = present(ts);
  JvpBlock body;
  Flags carries = fixpoint(s.carry_part(active), [&](const Flags& flags) {
    body = jvp(s.body, joined(joined(s.const_part(active), flags), s.xs_part(active)),
               pad_false(flags, s.ys));
    return body.active;
  });
  // From (primals, tangents) to (consts, their tangents, carries, their tangents, ...), in
  // arguments and results.
  std::size_t n = operands.size(), nc = count(s.const_part(active)), nk = count(carries),
              nx = count(s.xs_part(active));
  std::vector<int> order;
  append(order, indices(0, s.consts)), append(order, indices(n, nc));
  append(order, indices(s.consts, s.carries)), append(order, indices(n + nc, nk));
  append(order, indices(s.consts + s.carries, s.xs)), append(order, indices(n + nc + nk, nx));
  reorder_arguments(*body.block, order);
  Values r = body.block->results;
  std::size_t ny = r.size() - s.carries - s.ys - nk;
  body.block->results =
      joined(joined(part(r, 0, s.carries), part(r, s.carries + s.ys, nk)),
             joined(part(r, s.carries, s.ys), part(r, s.carries + s.ys + nk, ny)));
  Values carry_tangents;
  for (std::size_t i = 0; i < s.carries; ++i)
    if (carries[i])
      carry_tangents.push_back(or_zeros(b, ts[s.consts + i], operands[s.consts + i]->type()));
  Values out = scan(b, std::move(body.block),
                    joined(s.const_part(primals), filter(s.const_part(ts), s.const_part(active))),
                    joined(s.carry_part(primals), carry_tangents),
                    joined(s.xs_part(primals), filter(s.xs_part(ts), s.xs_part(active))),
                    {s.length, s.reverse});
  JvpResult result;
  result.results = joined(part(out, 0, s.carries), part(out, s.carries + nk, s.ys));
  result.tangents =
      spread(joined(part(out, s.carries, nk), part(out, s.carries + nk + s.ys, ny)), body.active);
  return result;
}

Linearized scan_linearize(Builder& b, const Op& op, std::span<Value* const> operands,
                          const Flags& active) {
  ScanParts s(op);
  BlockPtr known;
  LinearBlock l;
  Flags carries = fixpoint(s.carry_part(active), [&](const Flags& flags) {
    known = std::make_unique<Block>();
    Values arguments;
    for (const auto& a : s.body.arguments())
      arguments.push_back(known->add_argument(a->type(), a->hint()));
    Builder kb(*known);
    l = linearize(kb, s.body, arguments,
                  joined(joined(s.const_part(active), flags), s.xs_part(active)));
    return l.active;
  });
  known->results = l.results;
  Flags out_active = either(l.active, pad_false(carries, s.ys));
  Values ts = spread(l.linear->results, l.active);
  Builder zb(*l.linear);
  for (std::size_t i = 0; i < out_active.size(); ++i)
    if (out_active[i]) ts[i] = or_zeros(zb, ts[i], s.body.results[i]->type());
  l.linear->results = filter(ts, out_active);

  Values ops = list(operands);
  std::size_t nc = count(s.const_part(active)), nk = count(carries);
  Halves split = split_scan(b, {s.const_part(ops), s.carry_part(ops), s.xs_part(ops)},
                            std::move(known), *l.linear, nc, nk, {s.length, s.reverse});
  Linearized out{split.results, out_active, {}};
  ScanOptions options{s.length, s.reverse};
  std::vector<Type> types;
  for (Value* v : operands) types.push_back(v->type());
  Flags inputs = joined(joined(s.const_part(active), carries), s.xs_part(active));
  out.linear = [split, options, inputs, out_active, types, consts = s.consts,
                n_carries = s.carries](Builder& lb, std::span<Value* const> tangents) {
    Values c = split.consts, k, x = split.xs;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i])
        (i < consts               ? c
         : i < consts + n_carries ? k
                                  : x)
            .push_back(or_zeros(lb, tangents[i], types[i]));
    return spread(scan(lb, ir::clone(*split.body), c, k, x, options), out_active);
  };
  return out;
}

Values scan_transpose(Builder& b, const Op& op, std::span<Value* const> operands,
                      const Flags& linear, std::span<Value* const> cotangents) {
  ScanParts s(op);
  Flags carries = fixpoint(s.carry_part(linear), [&](const Flags& flags) {
    return dependent_results(s.body,
                             joined(joined(s.const_part(linear), flags), s.xs_part(linear)));
  });
  bool all_linear = count(carries) == s.carries;
  return all_linear ? transpose_linear(b, s, operands, linear, cotangents)
                    : transpose_mixed(b, s, operands, linear, carries, cotangents);
}

Batched scan_batch(Builder& b, const Op& op, std::span<Value* const> operands, const Flags& batched,
                   std::int64_t size) {
  ScanParts s(op);
  BatchedBlock body;
  Flags carries = fixpoint(s.carry_part(batched), [&](const Flags& flags) {
    body = batch(s.body, joined(joined(s.const_part(batched), flags), s.xs_part(batched)), size,
                 pad_false(flags, s.ys));
    return body.batched;
  });
  Values ops = list(operands), carry = s.carry_part(ops), xs = s.xs_part(ops);
  for (std::size_t i = 0; i < s.carries; ++i)
    if (carries[i]) carry[i] = batched_operand(b, carry[i], batched[s.consts + i], size);
  for (std::size_t i = 0; i < s.xs; ++i)
    if (batched[s.consts + s.carries + i])
      xs[i] = move_dim(b, xs[i], 1, 0);  // steps in front, then the batch
  Batched out{scan(b, std::move(body.block), s.const_part(ops), carry, xs, {s.length, s.reverse}),
              body.batched};
  for (std::size_t i = s.carries; i < out.results.size(); ++i)
    if (out.batched[i]) out.results[i] = move_dim(b, out.results[i], 1, 0);
  return out;
}

}  // namespace strata::op
