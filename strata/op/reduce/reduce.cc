// stablehlo.reduce: combines elements along dimensions.
//
// Contract (StableHLO, reduce): operands [inputs..., inits...], attributes `dimensions`,
// `combiner`.
//   (C1) inputs have one shape; (C2) each init is a scalar of its input's dtype; (C3) at least one
//   input, as many inits; (C4) dimensions are in range, (C5) unique; (C6) a region maps
//   (current..., new...) scalars to current scalars, of the inputs' types or wider ones of their
//   kind, any other combiner has one input and no region; (C7), (C8) results have the shape without
//   `dimensions` and the types that the region computes in.
// Order of combination: op/reduce/reduce_order.h; argument maxima: op/reduce/reduce.h.
#include "strata/op/reduce/reduce.h"

#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/calculus/closed.h"
#include "strata/op/calculus/jvp.h"
#include "strata/op/calculus/support.h"
#include "strata/op/control.h"
#include "strata/op/legalize.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {

std::vector<int> reduced_dims(const Op& op) {
  const Ints& dims = op.attr<Ints>("dimensions");
  std::vector<int> out(dims.begin(), dims.end());
  std::sort(out.begin(), out.end());
  return out;
}

ReduceOrder reduce_order(const Op& op) {
  return reduce_order(op.operand(0)->type(), reduced_dims(op));
}

Value* reduce_in_sequence(Builder& b, Value* x, Value* init, Combiner combiner) {
  std::vector<Dim> rest(x->shape().dims().begin() + 1, x->shape().dims().end());
  if (Shape(rest).count() != 1) return reduce(b, x, init, {0}, combiner);
  const std::int64_t n = x->shape()[0];
  Value* both = reduce(b, broadcast_in_dim(b, reshape(b, x, Shape{n}), Shape{n, 2}, {0}), init, {0},
                       combiner);
  return reshape(b, slice_dim(b, both, 0, 0, 1), Shape(rest));
}

namespace {

int num_inputs(const Op& op) { return op.num_results(); }

std::vector<int> kept_dims(const Op& op) {
  std::vector<int> reduced = reduced_dims(op), kept;
  for (int d = 0; d < op.operand(0)->rank(); ++d)
    if (!std::binary_search(reduced.begin(), reduced.end(), d)) kept.push_back(d);
  return kept;
}
Ints as_ints(const std::vector<int>& dims) { return Ints(dims.begin(), dims.end()); }

// ---- inference ---------------------------------------------------------------------------------

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>> regions) {
  std::size_t n = operands.size() / 2;
  if (n == 0 || operands.size() != 2 * n)
    throw Error("reduce", "expected inputs and as many initial values, got {} operands (C3)",
                operands.size());
  std::vector<DType> dtypes;
  for (std::size_t i = 0; i < n; ++i) {
    const Type &input = operands[i]->type(), &init = operands[n + i]->type();
    if (!input.is_tensor())
      throw Error("reduce", "inputs must be arrays, got {} (I1)", input.to_string());
    expect_storage("reduce", input.dtype());
    if (!may_equal(input.shape(), operands[0]->shape()))  // C1
      throw Error("reduce", "inputs must have one shape, got {} and {} (C1)",
                  operands[0]->type().to_string(), input.to_string());
    if (init != Type::scalar(input.dtype()))  // C2
      throw Error("reduce", "the initial value of {} must be {}, got {} (C2)", input.to_string(),
                  Type::scalar(input.dtype()).to_string(), init.to_string());
    dtypes.push_back(input.dtype());
  }
  const Ints& dims = expect_attr<Ints>("reduce", attrs, "dimensions");
  int rank = operands[0]->rank();
  std::vector<bool> gone(static_cast<std::size_t>(rank), false);
  for (std::int64_t d : dims) {
    if (d < 0 || d >= rank)
      throw Error("reduce", "dimension {} is out of range for {} (C4)", d,
                  operands[0]->type().to_string());
    if (gone[static_cast<std::size_t>(d)])
      throw Error("reduce", "dimension {} of {} is given twice (C5)", d,
                  operands[0]->type().to_string());
    gone[static_cast<std::size_t>(d)] = true;
  }
  const std::string& word = expect_attr<std::string>("reduce", attrs, "combiner");
  std::optional<Combiner> combiner = parse_combiner(word);
  if (!combiner) throw Error("reduce", "unknown combiner '{}'", word);
  if (*combiner == Combiner::region) {
    for (std::size_t i = 0; i < n && regions.size() == 1 && regions[0]->results.size() == n;
         ++i) {  // C6
      const Type& type = regions[0]->results[i]->type();
      if (!type.is_tensor()) continue;
      ir::under("C6", [&] { expect_promotable("reduce", dtypes[i], type.dtype()); });
      dtypes[i] = type.dtype();
    }
    ir::under("C6", [&] { expect_region("reduce", regions, dtypes); });
  } else {
    if (n != 1 || !regions.empty())
      throw Error("reduce",
                  "combiner {} takes one input and no region, got {} inputs and {} regions", word,
                  n, regions.size());
    ir::under("C6", [&] { expect_combiner("reduce", *combiner, dtypes[0]); });
  }
  std::vector<Dim> kept;
  for (int d = 0; d < rank; ++d)
    if (!gone[static_cast<std::size_t>(d)]) kept.push_back(operands[0]->shape().dim(d));
  std::vector<Type> results;
  for (DType dtype : dtypes) results.emplace_back(dtype, Shape(kept));
  return results;
}

// ---- reference evaluation ----------------------------------------------------------------------

/// Positions in the input: of each output's first element, and of the k-th reduced element from
/// there.
struct Places {
  std::vector<std::int64_t> first, step;
};
std::vector<std::int64_t> offsets(const Shape& shape, const std::vector<int>& dims) {
  std::vector<std::int64_t> strides = shape.strides(), sizes, out;
  for (int d : dims) sizes.push_back(shape[d]);
  for_each_index(Shape::of(sizes), [&](std::span<const std::int64_t> index, std::int64_t) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < dims.size(); ++i)
      at += index[i] * strides[static_cast<std::size_t>(dims[i])];
    out.push_back(at);
  });
  return out;
}
Places places(const Op& op) {
  const Shape& shape = op.operand(0)->shape();
  return {offsets(shape, kept_dims(op)), offsets(shape, reduced_dims(op))};
}

Literal evaluate_plain(const Op& op, const Literal& x, const Literal& init) {
  Combiner combiner = combiner_of(op);
  ReduceOrder order = reduce_order(op);
  Places at = places(op);
  Literal out(op.result()->type());
  Literal neutral = identity(combiner, accumulator(x.dtype()));
  dispatch(x.dtype(), [&](auto storage) {
    using S = decltype(storage);
    using T = Accumulator<S>;
    auto from = x.span<S>();
    auto to = out.mutable_span<S>();
    T first = neutral.span<T>()[0], initial = static_cast<T>(init.span<S>()[0]);
    for (std::size_t o = 0; o < at.first.size(); ++o) {
      auto element = [&](std::int64_t k) {
        return static_cast<T>(
            from[static_cast<std::size_t>(at.first[o] + at.step[static_cast<std::size_t>(k)])]);
      };
      to[o] = static_cast<S>(reduce_in_order<T>(order, combiner, first, initial, element));
    }
  });
  return out;
}

/// Whether pair (v, i) is better than (w, j) in the order of op/reduce/reduce.h.
bool better(bool maximum, const Literal& values, std::int64_t v, const Literal& indices,
            std::int64_t i, const Literal& value, const Literal& index) {
  return dispatch(values.dtype(), [&](auto storage) -> bool {
    using S = decltype(storage);
    if constexpr (internal::is_complex_v<S>) {
      STRATA_UNREACHABLE("no order on {}", name(values.dtype()));
    } else {
      using T = std::conditional_t<std::is_same_v<S, bool>, int, Accumulator<S>>;
      T a = static_cast<T>(values.span<S>()[static_cast<std::size_t>(v)]),
        b = static_cast<T>(value.span<S>()[0]);
      bool a_nan = a != a, b_nan = b != b;
      if (a_nan != b_nan) return a_nan;
      if (!a_nan && a != b) return maximum ? a > b : a < b;
      if (is_unsigned(indices.dtype()))
        return static_cast<std::uint64_t>(indices.integer(i)) <
               static_cast<std::uint64_t>(index.integer(0));
      return indices.integer(i) < index.integer(0);
    }
  });
}

Literals evaluate_extremum(const Op& op, std::span<const Literal> operands, bool maximum) {
  Places at = places(op);
  Literals out{Literal(op.result(0)->type()), Literal(op.result(1)->type())};
  for (std::size_t o = 0; o < at.first.size(); ++o) {
    Literal value(operands[2].type()), index(operands[3].type());
    copy_element(operands[2], 0, value, 0);
    copy_element(operands[3], 0, index, 0);
    for (std::int64_t step : at.step) {
      std::int64_t from = at.first[o] + step;
      if (!better(maximum, operands[0], from, operands[1], from, value, index)) continue;
      copy_element(operands[0], from, value, 0);
      copy_element(operands[1], from, index, 0);
    }
    copy_element(value, 0, out[0], static_cast<std::int64_t>(o));
    copy_element(index, 0, out[1], static_cast<std::int64_t>(o));
  }
  return out;
}

Literals evaluate_region(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  std::size_t n = static_cast<std::size_t>(num_inputs(op));
  Places at = places(op);
  Literals out, inputs, initial;
  for (Value* r : op.results()) {
    out.emplace_back(r->type());
    inputs.push_back(promoted(operands[inputs.size()], r->dtype(), evaluator));
    initial.push_back(promoted(operands[n + initial.size()], r->dtype(), evaluator));
  }
  for (std::size_t o = 0; o < at.first.size(); ++o) {
    Literals current = initial;
    for (std::int64_t step : at.step) {
      Literals arguments = current;
      for (std::size_t i = 0; i < n; ++i) {
        Literal element(Type::scalar(inputs[i].dtype()));
        copy_element(inputs[i], at.first[o] + step, element, 0);
        arguments.push_back(std::move(element));
      }
      current = evaluator.run(op.region(0), arguments);
    }
    for (std::size_t i = 0; i < n; ++i)
      copy_element(current[i], 0, out[i], static_cast<std::int64_t>(o));
  }
  return out;
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  if (combiner_of(op) != Combiner::region) return {evaluate_plain(op, operands[0], operands[1])};
  if (auto extremum = arg_extremum(op.region(0)))
    return evaluate_extremum(op, operands, extremum->maximum);
  return evaluate_region(op, operands, evaluator);
}

// ---- derivative and transpose ------------------------------------------------------------------

/// The same reduction on other operands (in closed form: what the region captures last).
Op& reduce_again(Builder& b, const Op& op, Values operands, const Ints& dims) {
  Attrs attrs = op.attrs;
  attrs.set("dimensions", dims);
  std::size_t own = 2 * static_cast<std::size_t>(num_inputs(op));
  Values captured(operands.begin() + static_cast<std::ptrdiff_t>(own), operands.end());
  operands.resize(own);
  return b.create(op.info(), std::move(operands), std::move(attrs),
                  reopened(op, static_cast<int>(own), captured));
}
Op& reduce_again(Builder& b, const Op& op, std::span<Value* const> operands) {
  return reduce_again(b, op, Values(operands.begin(), operands.end()), op.attr<Ints>("dimensions"));
}
/// A result spread over the input's shape.
Value* spread(Builder& b, const Op& op, Value* result) {
  return broadcast_in_dim(b, result, op.operand(0)->shape(), as_ints(kept_dims(op)));
}
/// A scalar spread over the result's shape.
Value* fill(Builder& b, const Op& op, Value* scalar) {
  return broadcast_in_dim(b, scalar, op.result()->shape(), {});
}
Value* sum(Builder& b, const Op& op, Value* x) {
  return reduce_sum(b, x, as_ints(reduced_dims(op)));
}

Value* add_tangent(Builder& b, const Op& op, Value* t, Value* t_init) {
  Value* total = t ? sum(b, op, t) : nullptr;
  return add_or_null(b, total, t_init ? fill(b, op, t_init) : nullptr);
}

/// Ties share the tangent equally, as in JAX. An initial value that is not neutral is one more
/// candidate.
Value* extremum_tangent(Builder& b, const Op& op, std::span<Value* const> operands, Value* result,
                        Value* t, Value* t_init) {
  Value* mask = convert(b, compare(b, operands[0], spread(b, op, result), "EQ"), result->dtype());
  Value* count = sum(b, op, mask);
  Value* total = t ? sum(b, op, mul(b, t, mask)) : nullptr;
  if (!is_neutral(operands[1], combiner_of(op))) {
    Value* init_mask =
        convert(b, compare(b, fill(b, op, operands[1]), result, "EQ"), result->dtype());
    count = add(b, count, init_mask);
    if (t_init) total = add_or_null(b, total, mul(b, fill(b, op, t_init), init_mask));
  }
  return total ? div(b, total, count) : nullptr;
}

/// A product and its tangent by halving a tree along the leading dimension: log2(n) products, exact
/// where factors are zero.
Value* product_tangent(Builder& b, const Op& op, std::span<Value* const> operands, Value* t,
                       Value* t_init) {
  const Shape& result_shape = op.result()->shape();
  std::vector<Dim> dims{Dim(reduce_order(op).count)};
  dims.insert(dims.end(), result_shape.dims().begin(), result_shape.dims().end());
  Ints order = as_ints(reduced_dims(op));
  for (int d : kept_dims(op)) order.push_back(d);
  auto gathered = [&](Value* v) { return reshape(b, transpose(b, v, order), Shape(dims)); };
  Value* p = gathered(operands[0]);
  t = gathered(or_zeros(b, t, operands[0]));
  Value* one = scalar(b, p->dtype(), 1);
  Value* zero = scalar(b, p->dtype(), 0);
  while (p->shape()[0] > 1) {
    std::int64_t n = p->shape()[0], half = (n + 1) / 2;
    Ints low(static_cast<std::size_t>(p->rank()), 0), high = low;
    high[0] = 2 * half - n;
    auto rest = [&](Value* v, Value* padding) {
      return pad(b, slice_dim(b, v, 0, half, n), padding, low, high);
    };
    Value *p1 = slice_dim(b, p, 0, 0, half), *p2 = rest(p, one);
    Value *t1 = slice_dim(b, t, 0, 0, half), *t2 = rest(t, zero);
    t = add(b, mul(b, t1, p2), mul(b, t2, p1));
    p = mul(b, p1, p2);
  }
  if (p->shape()[0] == 0) return t_init ? fill(b, op, t_init) : nullptr;
  p = reshape(b, p, result_shape);
  t = reshape(b, t, result_shape);
  if (!is_neutral(operands[1], Combiner::mul)) t = mul(b, t, fill(b, op, operands[1]));
  return t_init ? add(b, t, mul(b, fill(b, op, t_init), p)) : t;
}

/// The tangent of the winner: indices along the reduced dimensions differ, so the winner is where
/// index and value match.
Value* winner_tangent(Builder& b, const Op& op, std::span<Value* const> operands,
                      const Values& results, Value* t, Value* t_init) {
  auto wins = [&](Value* value, Value* index, Value* best_value, Value* best_index) {
    Value* same = or_(b, compare(b, value, best_value, "EQ"), compare(b, value, value, "NE"));
    return convert(b, and_(b, same, compare(b, index, best_index, "EQ")), value->dtype());
  };
  Value* total = t ? sum(b, op,
                         mul(b, t,
                             wins(operands[0], operands[1], spread(b, op, results[0]),
                                  spread(b, op, results[1]))))
                   : nullptr;
  if (t_init == nullptr) return total;
  Value* init_wins =
      wins(fill(b, op, operands[2]), fill(b, op, operands[3]), results[0], results[1]);
  return add_or_null(b, total, mul(b, fill(b, op, t_init), init_wins));
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  bool general = combiner_of(op) == Combiner::region && !is_arg_extremum(op.region(0));
  if (general && !all_null(tangents)) return op::jvp(b, *decomposition(op), operands, tangents);
  Op& again = reduce_again(b, op, operands);
  JvpResult out{again.results(), Values(static_cast<std::size_t>(op.num_results()), nullptr)};
  if (all_null(tangents)) return out;
  std::size_t n = static_cast<std::size_t>(num_inputs(op));
  Value *t = tangents[0], *t_init = tangents[n];
  switch (combiner_of(op)) {
    case Combiner::add: out.tangents[0] = add_tangent(b, op, t, t_init); break;
    case Combiner::min:
    case Combiner::max:
      out.tangents[0] = extremum_tangent(b, op, operands, out.results[0], t, t_init);
      break;
    case Combiner::mul: out.tangents[0] = product_tangent(b, op, operands, t, t_init); break;
    case Combiner::region:
      out.tangents[0] = winner_tangent(b, op, operands, out.results, t, t_init);
      break;
    case Combiner::and_:
    case Combiner::or_:
    case Combiner::xor_: break;  // integers have no tangents
  }
  return out;
}

Values transpose_rule(Builder& b, const Op& op, std::span<Value* const> operands,
                      const std::vector<bool>& linear, std::span<Value* const> cotangents) {
  Values out(operands.size(), nullptr);
  if (all_null(cotangents)) return out;
  if (combiner_of(op) != Combiner::add)
    throw Error("reduce", "a reduction by {} is not linear", name(combiner_of(op)));
  if (linear[0]) out[0] = spread(b, op, cotangents[0]);
  if (linear[1]) {
    Ints all;
    for (int d = 0; d < cotangents[0]->rank(); ++d) all.push_back(d);
    out[1] = reduce_sum(b, cotangents[0], all);
  }
  return out;
}

// ---- batching ----------------------------------------------------------------------------------

/// With initial values that differ per example: one reduction for each example, stacked. Rare.
Batched batch_one_by_one(Builder& b, const Op& op, std::span<Value* const> operands,
                         const std::vector<bool>& batched, std::int64_t size) {
  std::vector<Values> parts(static_cast<std::size_t>(op.num_results()));
  for (std::int64_t e = 0; e < size; ++e) {
    Values own;
    for (std::size_t i = 0; i < operands.size(); ++i)
      own.push_back(
          batched[i] ? reshape(b, slice_dim(b, operands[i], 0, e, e + 1), op.operands[i]->shape())
                     : operands[i]);
    Op& one = reduce_again(b, op, own);
    for (int r = 0; r < one.num_results(); ++r)
      parts[static_cast<std::size_t>(r)].push_back(
          reshape(b, one.result(r), with_leading(one.result(r)->type(), 1).shape()));
  }
  Values results;
  for (int r = 0; r < op.num_results(); ++r)
    results.push_back(size > 0 ? concatenate(b, parts[static_cast<std::size_t>(r)], 0)
                               : zeros(b, with_leading(op.result(r)->type(), 0)));
  return {results, std::vector<bool>(results.size(), true)};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  std::size_t n = static_cast<std::size_t>(num_inputs(op));
  for (std::size_t i = 2 * n; i < operands.size(); ++i)
    if (batched[i]) return op::batch(b, *decomposition(op), operands, batched, size);
  for (std::size_t i = n; i < 2 * n; ++i)
    if (batched[i]) return batch_one_by_one(b, op, operands, batched, size);
  Values full;
  for (std::size_t i = 0; i < n; ++i)
    full.push_back(batched_operand(b, operands[i], batched[i], size));
  full.insert(full.end(), operands.begin() + static_cast<std::ptrdiff_t>(n), operands.end());
  Op& out = reduce_again(b, op, std::move(full), shifted(op.attr<Ints>("dimensions")));
  return {out.results(), std::vector<bool>(n, true)};
}

// ---- sharding, cost, lowering ------------------------------------------------------------------

Factors shard(const Op& op) {
  FactorTable t(op);
  std::vector<int> reduced = reduced_dims(op);
  int n = num_inputs(op), kept = 0;
  for (int d = 0; d < op.operand(0)->rank(); ++d) {
    bool gone = std::binary_search(reduced.begin(), reduced.end(), d);
    int f = t.factor(gone ? 'r' : 'p', op.operand(0)->shape().dim(d).bound());
    for (int i = 0; i < n; ++i) t.operand(i, d, f);
    if (gone) continue;
    for (int i = 0; i < n; ++i) t.result(i, kept, f);
    ++kept;
  }
  return t.take();
}

Work cost(const Op& op) {
  double inputs = 1;
  for (const Dim& d : op.operand(0)->shape().dims())
    inputs *= static_cast<double>(std::max<std::int64_t>(d.bound(), 1));
  double per_element = op.regions.empty() ? 1 : static_cast<double>(op.region(0).ops().size());
  return {inputs * per_element, bytes_moved(op)};
}

Reduction lowering(const Op& op) { return {reduced_dims(op), combiner_of(op)}; }

/// The parts of an operand in the wider type that the region computes in.
Parts promoted_parts(Builder& b, const Parts& parts, DType from, DType to) {
  Parts out;
  for (Value* p : parts) {
    DType wide = is_complex(to) ? real_part(to) : wide_type(to);
    out.push_back(encode(b, convert(b, decode(b, p, from), wide), is_complex(to) ? wide : to));
  }
  return out;
}

std::vector<Parts> split(Builder& b, const Op& op, std::span<const Parts> operands) {
  int n = num_inputs(op);
  bool promotes = false;
  for (int i = 0; i < n; ++i) promotes |= op.operand(i)->dtype() != op.result(i)->dtype();
  if (!promotes) return split_combined(b, op, operands, false);
  if (!ir::captures(op.region(0)).empty())
    throw Error("reduce", "a region that computes in wider types may use nothing from outside")
        .at(op.where.text())
        .unsupported();
  Values flat;
  std::vector<Type> types;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    int r = static_cast<int>(i) % n;
    for (Value* p : promoted_parts(b, operands[i], op.operands[i]->dtype(), op.result(r)->dtype()))
      flat.push_back(p);
  }
  for (Value* r : op.results())
    for (const Type& t : part_types(r->type())) types.push_back(t);
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(legalize_region(op.region(0)));
  const Op& made = b.create(op.info(), flat, op.attrs, std::move(regions), types);
  std::vector<Parts> out;
  int at = 0;
  for (Value* r : op.results()) {
    out.emplace_back();
    for (std::size_t p = 0; p < part_types(r->type()).size(); ++p)
      out.back().push_back(made.result(at++));
  }
  return out;
}

// ---- decomposition -----------------------------------------------------------------------------

/// x with the kept dimensions as one and the reduced dimensions as another.
Value* as_rows(Builder& b, const Op& op, Value* x) {
  Ints order = as_ints(kept_dims(op));
  for (int d : reduced_dims(op)) order.push_back(d);
  std::int64_t rows = 1, count = 1;
  for (int d : kept_dims(op)) rows *= x->shape()[d];
  for (int d : reduced_dims(op)) count *= x->shape()[d];
  return reshape(b, transpose(b, x, order), Shape{rows, count});
}

/// A loop over outputs and in it one over elements: for regions that no kernel can hold, and for
/// derivatives.
Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  if (combiner_of(op) != Combiner::region || is_arg_extremum(op.region(0)))
    return reduce_again(b, op, operands).results();
  std::size_t n = static_cast<std::size_t>(num_inputs(op));
  OpenRegion region(op.region(0), 2 * static_cast<int>(n), operands.subspan(2 * n));
  Values xs, initial, captured = region.captured();
  for (std::size_t i = 0; i < n; ++i) {
    DType dtype = op.result(static_cast<int>(i))->dtype();
    xs.push_back(as_rows(b, op, convert(b, operands[i], dtype)));
    initial.push_back(convert(b, operands[n + i], dtype));
  }
  std::int64_t rows = xs[0]->shape()[0], count = xs[0]->shape()[1];

  auto element = std::make_unique<Block>();  // (captured..., state..., elements...) -> state...
  Values inside, both;
  for (Value* v : captured) inside.push_back(element->add_argument(v->type()));
  for (std::size_t i = 0; i < 2 * n; ++i)
    both.push_back(element->add_argument(initial[i % n]->type()));
  Builder eb(*element);
  element->results = region.inlined(eb, both, inside);

  auto row = std::make_unique<Block>();  // (captured..., initial..., rows...) -> results...
  Values consts, first, elements;
  for (Value* v : captured) consts.push_back(row->add_argument(v->type()));
  for (Value* v : initial) first.push_back(row->add_argument(v->type()));
  for (Value* x : xs) elements.push_back(row->add_argument(Type(x->dtype(), Shape{count})));
  Builder rb(*row);
  row->results = scan(rb, std::move(element), consts, first, elements, {count, false});
  Values out = scan(b, std::move(row), joined(captured, initial), {}, xs, {rows, false});
  for (std::size_t i = 0; i < n; ++i)
    out[i] = reshape(b, out[i], op.result(static_cast<int>(i))->shape());
  return out;
}

}  // namespace

const OpDef& reduce_def() {
  static const OpDef d{
      .info = ir::inferred_by("C7, C8", {.name = "stablehlo.reduce",
                                         .infer = infer,
                                         .text = &ir::formats::reduce,
                                         .quantized = quantized::per_tensor}),
      .summary = "combines elements along dimensions (StableHLO, reduce)",
      .traits = {},
      .evaluate = evaluate,
      .jvp = jvp,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = transpose_rule,
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = lowering,
      .decompose = decompose,
      .split = split,
  };
  return d;
}

// ---- builders ----------------------------------------------------------------------------------

Value* reduce(Builder& b, Value* x, Value* init, const Ints& dims, Combiner combiner) {
  if (dims.empty() && is_neutral(init, combiner)) return x;
  return b
      .create(reduce_def().info, {x, init},
              {{"dimensions", dims}, {"combiner", std::string(name(combiner))}})
      .result();
}
Value* reduce(Builder& b, Value* x, const Ints& dims, Combiner combiner) {
  if (dims.empty()) return x;
  return reduce(b, x, constant(b, initial_value(combiner, x->dtype())), dims, combiner);
}
Value* reduce_min(Builder& b, Value* x, const Ints& dims) {
  return reduce(b, x, dims, Combiner::min);
}

}  // namespace strata::op
