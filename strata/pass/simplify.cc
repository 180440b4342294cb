#include "strata/pass/simplify.h"

#include <algorithm>
#include <optional>

#include "strata/ir/pass/pass.h"
#include "strata/op/build.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/def.h"
#include "strata/op/kind.h"
#include "strata/op/lowering_kind.h"
#include "strata/op/reduce/combiner.h"
#include "strata/op/reduce/reduce.h"
#include "strata/op/rules.h"
#include "strata/op/sort/sort.h"
#include "strata/pass/algebra.h"
#include "strata/pass/data_movement/transpose_patterns.h"
#include "strata/pass/splat.h"
#include "strata/transform/prune.h"

namespace strata::pass {
namespace {

using ir::Builder;
using ir::Ints;
using ir::Op;
using ir::Value;
using ir::Values;
using op::made_by;

// The value that stands for the operation's result, or null when it stays.
using Rewrite = Value* (*)(Builder&, const Op&);

// An array without elements.
bool is_empty(const Type& type) {
  return type.is_tensor() && type.shape().is_static() && type.shape().count() == 0;
}

// ---- arithmetic (the rules without conditions: algebra.cc) --------------------------------------

// Whether every number of `narrow` is one of `wide` too.
bool widens(DType narrow, DType wide) {
  if (narrow == wide) return true;
  if (is_float(narrow) && is_float(wide))
    return has_storage(narrow) &&
           (wide == DType::f64 || (wide == DType::f32 && narrow != DType::f64));
  bool whole = is_integer(narrow) && is_integer(wide);
  return whole && bit_width(wide) > bit_width(narrow) && (is_signed(wide) || is_unsigned(narrow));
}

Value* convert(Builder& b, const Op& op) {
  Value* x = op.operand(0);
  DType to = op.result()->dtype();
  if (x->dtype() == to) return x;
  const Op* inner = op::made_by(x, op::kind::convert);
  if (!inner || !widens(inner->operand(0)->dtype(), x->dtype())) return nullptr;
  return op::convert(b, inner->operand(0), to);  // through a wider type nothing was lost
}

// ---- moves -------------------------------------------------------------------------------------

bool is_static(const Op& op) {
  for (Value* v : op.operands)
    if (!v->shape().is_static()) return false;
  return op.result()->shape().is_static();
}

/// Whether a reshape's or a broadcast's elements are those of the operand, in their order:
/// dimensions of one element come and go.
bool moves_nothing(const Op& op) {
  const Ints dims = op.attrs.get_or<Ints>("broadcast_dimensions", {});
  return op.result()->shape().count() == op.operand(0)->shape().count() &&
         std::is_sorted(dims.begin(), dims.end());
}

/// A transposition between two reshapes, of fewer dimensions: those that stay beside each other are
/// one, those of one element none. What reads it finds its places by fewer divisions, and
/// neighbours by longer runs.
Value* joined_dimensions(Builder& b, const Op& before, const Op& transpose, const Shape& result) {
  const Shape& shape = transpose.operand(0)->shape();
  Ints kept;  // of the operand, in the result's order
  for (std::int64_t d : transpose.attr<Ints>("permutation"))
    if (shape[static_cast<int>(d)] != 1) kept.push_back(d);
  auto next = [&](std::int64_t d) {
    do ++d;
    while (d < shape.rank() && shape[static_cast<int>(d)] == 1);
    return d;
  };
  Ints firsts;  // the dimension with which each run begins, in the result's order
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(shape.rank()), 1);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (i == 0 || next(kept[i - 1]) != kept[i]) firsts.push_back(kept[i]);
    sizes[static_cast<std::size_t>(firsts.back())] *= shape[static_cast<int>(kept[i])];
  }
  if (firsts.empty() || static_cast<int>(firsts.size()) == shape.rank()) return nullptr;
  Ints order = firsts, permutation;
  std::sort(order.begin(), order.end());
  std::vector<Dim> joined;
  for (std::int64_t d : order) joined.emplace_back(sizes[static_cast<std::size_t>(d)]);
  for (std::int64_t d : firsts)
    permutation.push_back(std::find(order.begin(), order.end(), d) - order.begin());
  return op::reshape(
      b, op::transpose(b, op::reshape(b, before.operand(0), Shape(std::move(joined))), permutation),
      result);
}

Value* reshape(Builder& b, const Op& op) {
  if (!is_static(op)) return nullptr;
  Value* x = op.operand(0);
  if (x->type() == op.result()->type()) return x;
  if (const Op* transpose = op::made_by(x, op::kind::transpose))
    if (const Op* before = op::made_by(transpose->operand(0), op::kind::reshape);
        before && is_static(*before) && x->shape().count() > 0)
      return joined_dimensions(b, *before, *transpose, op.result()->shape());
  const Op* inner = op::made_by(x, op::kind::reshape);
  if (!inner) inner = op::made_by(x, op::kind::broadcast_in_dim);
  if (!inner || !is_static(*inner) || !moves_nothing(*inner)) return nullptr;
  return op::reshape(b, inner->operand(0), op.result()->shape());
}

// inner[outer[i]]
Ints composed(const Ints& inner, const Ints& outer) {
  Ints out;
  for (std::int64_t i : outer) out.push_back(inner[static_cast<std::size_t>(i)]);
  return out;
}

Value* transpose(Builder& b, const Op& op) {
  const Ints& permutation = op.attr<Ints>("permutation");
  if (is_iota(permutation)) return op.operand(0);
  const Op* inner = op::made_by(op.operand(0), op::kind::transpose);
  return inner ? op::transpose(b, inner->operand(0),
                               composed(inner->attr<Ints>("permutation"), permutation))
               : nullptr;
}

Value* broadcast(Builder& b, const Op& op) {
  if (!is_static(op)) return nullptr;
  const Ints& dims = op.attr<Ints>("broadcast_dimensions");
  Value* x = op.operand(0);
  if (x->type() == op.result()->type() && is_iota(dims)) return x;
  const Op* inner = op::made_by(x, op::kind::broadcast_in_dim);
  if (!inner || !is_static(*inner)) return nullptr;
  return op::broadcast_in_dim(b, inner->operand(0), op.result()->shape(),
                              composed(dims, inner->attr<Ints>("broadcast_dimensions")));
}

// Slices, pads, concatenations whose result is the operand.
Value* whole(Builder&, const Op& op) {
  bool same = is_static(op) && op.operand(0)->type() == op.result()->type();
  if (!same) return nullptr;
  if (op::kind::concatenate(op)) return op.operands.size() == 1 ? op.operand(0) : nullptr;
  if (op::kind::slice(op)) return op.operand(0);
  for (const char* attr : {"edge_padding_low", "edge_padding_high", "interior_padding"})
    for (std::int64_t n : op.attr<Ints>(attr))
      if (n != 0) return nullptr;
  return op.operand(0);
}

// Those operands of a concatenation that a slice without strides along it reads, each as far as it
// does; one after another.
Values pieces_read(Builder& b, const Op& slice, const Op& concatenate) {
  const auto dim = static_cast<std::size_t>(concatenate.attr<std::int64_t>("dimension"));
  const Ints &start = slice.attr<Ints>("start_indices"), &limit = slice.attr<Ints>("limit_indices"),
             &strides = slice.attr<Ints>("strides");
  Values out;
  std::int64_t at = 0;
  for (Value* piece : concatenate.operands) {
    const std::int64_t size = piece->shape()[static_cast<int>(dim)],
                       first = std::max(start[dim] - at, std::int64_t{0}),
                       last = std::min(limit[dim] - at, size);
    at += size;
    if (first >= last) continue;
    Ints from = start, to = limit;
    from[dim] = first, to[dim] = last;
    out.push_back(op::slice(b, piece, from, to, strides));
  }
  return out;
}

// A slice of a slice is one. Of a concatenation it is one of the operand that it is in, and a
// small one is that of several: what it is made of then does not depend on the concatenation, which
// may be computed where it is read.
Value* slice(Builder& b, const Op& op) {
  constexpr std::int64_t kSmall = 4, kMostPieces = 4;
  if (Value* v = whole(b, op)) return v;
  if (!is_static(op) || op.result()->shape().count() == 0) return nullptr;
  const Ints &start = op.attr<Ints>("start_indices"), &limit = op.attr<Ints>("limit_indices"),
             &strides = op.attr<Ints>("strides");
  if (const Op* inner = op::made_by(op.operand(0), op::kind::slice); inner && is_static(*inner)) {
    const Ints &begin = inner->attr<Ints>("start_indices"), &step = inner->attr<Ints>("strides");
    Ints from, to, by;
    for (std::size_t d = 0; d < start.size(); ++d) {
      const std::int64_t last =
          start[d] + (op.result()->shape()[static_cast<int>(d)] - 1) * strides[d];
      from.push_back(begin[d] + start[d] * step[d]);
      to.push_back(begin[d] + last * step[d] + 1);
      by.push_back(strides[d] * step[d]);
    }
    return op::slice(b, inner->operand(0), from, to, by);
  }
  const Op* joined = op::made_by(op.operand(0), op::kind::concatenate);
  if (!joined || !is_static(*joined)) return nullptr;
  const auto dim = static_cast<std::size_t>(joined->attr<std::int64_t>("dimension"));
  if (strides[dim] != 1) return nullptr;
  std::int64_t at = 0, read = 0;
  for (const Value* piece : joined->operands) {
    const std::int64_t size = piece->shape()[static_cast<int>(dim)];
    read += start[dim] < at + size && limit[dim] > at;
    at += size;
  }
  const bool small = op.result()->shape().count() * kSmall <= joined->result()->shape().count() &&
                     read <= kMostPieces;
  if (read != 1 && !small) return nullptr;
  const Values pieces = pieces_read(b, op, *joined);
  return pieces.size() == 1 ? pieces[0] : op::concatenate(b, pieces, static_cast<int>(dim));
}

// A concatenation of few concatenations along the same dimension is one.
Value* concatenate(Builder& b, const Op& op) {
  constexpr std::size_t kMost = 8;
  if (Value* v = whole(b, op)) return v;
  const std::int64_t dim = op.attr<std::int64_t>("dimension");
  Values flat;
  bool changes = false;
  for (Value* v : op.operands) {
    if (is_empty(v->type())) {
      changes = true;
      continue;
    }
    const Op* inner = op::made_by(v, op::kind::concatenate);
    const bool joins = inner && inner->attr<std::int64_t>("dimension") == dim;
    changes |= joins;
    joins ? void(flat.insert(flat.end(), inner->operands.begin(), inner->operands.end()))
          : flat.push_back(v);
    if (flat.size() > kMost) return nullptr;
  }
  return changes ? op::concatenate(b, flat, static_cast<int>(dim)) : nullptr;
}

/// A reduction of a transposed array, of the array itself, and transposed then: where the elements'
/// order stays what it is, lanes along what is kept (op/reduce/reduce_order.h), or is nobody's
/// concern. (Rows of a few of all stay: what is computed with them shares their sweep.)
Value* reduced_before(Builder& b, const Op& op) {
  const Op* transpose = op::made_by(op.operand(0), op::kind::transpose);
  if (!transpose || op.operand(0)->shape().count() == 0) return nullptr;
  Value* x = transpose->operand(0);
  const Ints &permutation = transpose->attr<Ints>("permutation"),
             &dims = op.attr<Ints>("dimensions");
  std::vector<int> over(dims.begin(), dims.end()), before;
  std::sort(over.begin(), over.end());
  for (int d : over) before.push_back(static_cast<int>(permutation[static_cast<std::size_t>(d)]));
  const bool is_row = op::reduce_order(op.operand(0)->type(), over).lanes > 1;
  const bool along_kept = std::is_sorted(before.begin(), before.end()) && !is_row &&
                          op::reduce_order(x->type(), before).lanes == 1;
  if (!along_kept && !(op::in_any_order(op::combiner_of(op), x->dtype()) &&
                       (!is_row || op.result()->shape().count() == 1)))
    return nullptr;
  const Transposed out = reduction_of_untransposed(b, op, x, permutation);
  return is_iota(out.permutation) ? out.value : op::transpose(b, out.value, out.permutation);
}

// A reduction of one element each: init op x, a map that fuses with others (derivatives of what
// keeps a dimension of 1 sum over it).
Value* reduce(Builder& b, const Op& op) {
  if (op.operands.size() != 2 || !is_static(op) || op::combiner_of(op) == op::Combiner::region)
    return nullptr;
  if (Value* before = reduced_before(b, op)) return before;
  Value *x = op.operand(0), *init = op.operand(1), *result = op.result();
  if (x->shape().count() != result->shape().count() || x->dtype() != result->dtype() ||
      is_complex(x->dtype()))
    return nullptr;
  return op::combined(b, op::combiner_of(op), op::broadcast_in_dim(b, init, result->shape(), {}),
                      op::reshape(b, x, result->shape()));
}

/// The few elements along a dimension, each a value without it: of what was put together of them,
/// or counts them. Nothing for another value.
Values elements_along(Builder& b, Value* v, int dim, const Shape& without) {
  Values out;
  if (const Op* joined = op::made_by(v, op::kind::concatenate);
      joined && joined->attr<std::int64_t>("dimension") == dim) {
    for (Value* piece : joined->operands) {
      if (piece->shape()[dim] != 1) return {};
      out.push_back(op::reshape(b, piece, without));
    }
  } else if (const Op* iota = op::made_by(v, op::kind::iota);
             iota && iota->attr<std::int64_t>("iota_dimension") == dim) {
    for (std::int64_t i = 0; i < v->shape()[dim]; ++i)
      out.push_back(
          op::broadcast_in_dim(b, op::scalar(b, v->dtype(), static_cast<double>(i)), without, {}));
  }
  return out;
}

/// The better one of two pairs of a value and its place, as the place of an extremum is defined
/// (op/reduce/reduce.h).
Values better_of(Builder& b, bool maximum, const Values& x, const Values& y) {
  Value *beats = op::compare(b, x[0], y[0], maximum ? "GT" : "LT"),
        *equal = op::compare(b, x[0], y[0], "EQ");
  if (is_float(x[0]->dtype())) {
    Value *x_is_none = op::compare(b, x[0], x[0], "NE"),
          *y_is_none = op::compare(b, y[0], y[0], "NE");
    beats = op::or_(b, beats, op::and_(b, x_is_none, op::not_(b, y_is_none)));
    equal = op::or_(b, equal, op::and_(b, x_is_none, y_is_none));
  }
  Value* stays = op::or_(b, beats, op::and_(b, equal, op::compare(b, x[1], y[1], "LT")));
  return {op::select(b, stays, x[0], y[0]), op::select(b, stays, x[1], y[1])};
}

// The same by a computation of its own, of several arrays, too: of one element each (the place of
// the greatest along a dimension of 1), or of a few that were put together (the first of some
// conditions that holds), of which it is a map then.
Values reduce_by_region(Builder& b, const Op& op) {
  constexpr std::int64_t kFew = 8;
  if (!op::kind::reduce(op) || !is_static(op) || op::combiner_of(op) != op::Combiner::region)
    return {};
  const int n = op.num_results();
  const Shape& shape = op.result()->shape();
  const std::int64_t count = shape.count(),
                     terms = count ? op.operand(0)->shape().count() / count : 0;
  const Ints& dims = op.attr<Ints>("dimensions");
  if (terms < 1 || terms > kFew || (terms > 1 && dims.size() != 1)) return {};
  std::vector<Values> elements(static_cast<std::size_t>(terms));
  for (int i = 0; i < n; ++i) {
    Value* v = op.operand(i);
    if (v->dtype() != op.result(i)->dtype() || v->dtype() != op.operand(n + i)->dtype() ||
        v->shape().count() != terms * count)
      return {};
    const Values each = terms == 1 ? Values{op::reshape(b, v, shape)}
                                   : elements_along(b, v, static_cast<int>(dims[0]), shape);
    if (static_cast<std::int64_t>(each.size()) != terms) return {};
    for (std::size_t t = 0; t < each.size(); ++t)
      elements[t].push_back(op::reshape(b, each[t], Shape{count}));
  }
  Values state(op.operands.begin() + n, op.operands.end());
  std::vector<bool> batched(static_cast<std::size_t>(n), false);
  if (const auto extremum = op::arg_extremum(op.region(0)); extremum) {
    for (Value*& v : state) v = op::broadcast_in_dim(b, v, Shape{count}, {});
    for (const Values& more : elements) state = better_of(b, extremum->maximum, state, more);
    for (Value*& v : state) v = op::reshape(b, v, shape);
    return state;
  }
  for (const Values& more : elements) {
    Values operands = state;
    operands.insert(operands.end(), more.begin(), more.end());
    std::vector<bool> of_operands = batched;
    of_operands.resize(operands.size(), true);
    const op::Batched out = op::batch(b, op.region(0), operands, of_operands, count);
    state = out.results;
    batched = out.batched;
  }
  for (std::size_t i = 0; i < state.size(); ++i)
    state[i] = op::reshape(b, op::batched_operand(b, state[i], batched[i], count), shape);
  return state;
}

struct RewriteOf {
  const op::Kind* kind;
  Rewrite rewrite;
};
constexpr RewriteOf kRewrites[] = {
    {&op::kind::broadcast_in_dim, broadcast},
    {&op::kind::concatenate, concatenate},
    {&op::kind::convert, convert},
    {&op::kind::pad, whole},
    {&op::kind::reduce, reduce},
    {&op::kind::reshape, reshape},
    {&op::kind::slice, slice},
    {&op::kind::transpose, transpose},
};

// An operation that passes its operand on as it is: a name, a mark for transforms.
bool is_identity(const Op& op) {
  const op::Traits& traits = op::def(op).traits;
  return traits.elementwise && traits.moves_only && op.operands.size() == 1 &&
         op.num_results() == 1 && op.regions.empty() &&
         op.operand(0)->type() == op.result()->type();
}

/// The number that all elements are, or null: of what is broadcast, or made so that it can be.
Value* number_of(Builder& b, Value* v, bool make) {
  if (v->rank() == 0) return v;
  if (const Op* broadcast = op::made_by(v, op::kind::broadcast_in_dim))
    if (Value* x = broadcast->operand(0); x->rank() == 0) return x;
  const Op* constant = op::made_by(v, op::kind::constant);
  if (!constant || !splat(v)) return nullptr;
  return make ? op::constant(b, Literal::splat(Type::scalar(v->dtype()), splat(v)->element(0))) : v;
}

/// Elementwise work on numbers that are broadcast is that on the numbers, broadcast (a loop's
/// counter, as large as what it is compared with).
Value* of_numbers(Builder& b, const Op& op) {
  const op::Traits& traits = op::def(op).traits;
  const Value* result = op.result();
  if (!traits.elementwise || traits.moves_only || op.operands.empty() || !op.regions.empty() ||
      result->rank() == 0 || result->type().is_quantized() || !is_static(op))
    return nullptr;
  if (is_complex(result->dtype()) || op::is_interleaving(op)) return nullptr;
  bool any = false;
  for (Value* v : op.operands) {
    if (is_complex(v->dtype()) || !number_of(b, v, false)) return nullptr;
    any |= !op::made_by(v, op::kind::constant);
  }
  if (!any) return nullptr;
  Values numbers;
  for (Value* v : op.operands) numbers.push_back(number_of(b, v, true));
  Value* number =
      b.create(op.info(), numbers, op.attrs, {}, {result->type().with(Shape{})}).result();
  return op::broadcast_in_dim(b, number, result->shape(), {});
}

Value* rewritten(Builder& b, const Op& op) {
  if (op.info().has_effect || op.num_results() != 1) return nullptr;
  if (is_identity(op)) return op.operand(0);
  if (Value* v = of_numbers(b, op)) return v;
  if (is_empty(op.result()->type()) && !op.operands.empty() && has_storage(op.result()->dtype()) &&
      !op.result()->type().is_quantized())
    return op::constant(b, Literal(op.result()->type()));
  if (Value* v = by_algebra(b, op)) return v;
  for (const RewriteOf& row : kRewrites)
    if ((*row.kind)(op)) return row.rewrite(b, op);
  return nullptr;
}

// The same of operations that may have several results.
Values all_rewritten(Builder& b, const Op& op) {
  if (op::kind::sort(op))
    return op::sorts_single_elements(op) ? Values(op.operands.begin(), op.operands.end())
                                         : Values();
  return reduce_by_region(b, op);
}

// The branch that a constant index or predicate chooses, or null.
const ir::Block* chosen_branch(const Op& op) {
  bool is_if = op::kind::if_(op);
  if (!is_if && !op::kind::case_(op)) return nullptr;
  std::optional<Literal> index = splat(op.operand(0));
  if (!index) return nullptr;
  std::int64_t n = static_cast<std::int64_t>(op.regions.size()), i = index->integer(0);
  if (is_if) i = i != 0 ? 0 : 1;
  return op.regions[static_cast<std::size_t>(i < 0 || i >= n ? n - 1 : i)].get();
}

// One pass over a block, in order. Returns whether anything changed.
bool pass(ir::Block& block) {
  bool changed = false;
  ir::ValueMap map;
  std::vector<std::unique_ptr<Op>> ops = std::move(block.ops()),
                                   dead;  // kept until the end: the map knows them by address
  block.ops().clear();
  Builder b(block);
  for (auto& op : ops) {
    op->operands = map(op->operands);
    for (auto& region : op->regions) ir::replace_uses(*region, map);
    b.set_location(op->where);
    if (const ir::Block* branch = chosen_branch(*op)) {
      Values results = ir::inline_block(b, *branch, {});
      for (int i = 0; i < op->num_results(); ++i)
        map.set(op->result(i), results[static_cast<std::size_t>(i)]);
    } else if (Value* v = rewritten(b, *op)) {
      map.set(op->result(), v);
    } else if (Values values = all_rewritten(b, *op); !values.empty()) {
      for (int i = 0; i < op->num_results(); ++i)
        map.set(op->result(i), values[static_cast<std::size_t>(i)]);
    } else {
      for (auto& region : op->regions) changed = pass(*region) || changed;
      block.append(std::move(op));
      continue;
    }
    changed = true;
    dead.push_back(std::move(op));
  }
  block.results = map(block.results);
  return changed;
}

}  // namespace

void simplify(ir::Block& block) {
  transform::prune(block);
  while (pass(block)) ir::remove_dead(block);
  ir::cse(block);
  transform::prune(block);
}

}  // namespace strata::pass
