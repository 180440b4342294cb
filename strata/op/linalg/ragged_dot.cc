// chlo.ragged_dot: a dot_general one of whose dimensions is cut into groups of given sizes.
//
// Contract (CHLO, ragged_dot): operands lhs, rhs, group_sizes (integers); lists as dot_general's,
// and `lhs_ragged_dimensions` (exactly one) and `rhs_group_dimensions`. By what the ragged
// dimension of lhs is:
//   free:         lhs [b, m, k], rhs [g, b, k, n], group_sizes [b, g] -> [b, m, n]: rows of group i
//   meet rhs[i]; rows beyond the last
//                 group are 0
//   contracting:  lhs [b, m, k], rhs [b, k, n], group_sizes [b, g] -> [g, b, m, n]: one product for
//   each group batching:     lhs [b, m, k], rhs [b, k, n], group_sizes [g] -> [b, m, n]: the
//   product itself
// group_sizes has the sizes of the dimensions of lhs before the ragged one (batching ones, then
// those of the ragged one's kind), or is one list [g] for all. `rhs_group_dimensions` has one
// entry, of size g, where the ragged dimension is free, else none.
#include <algorithm>
#include <numeric>

#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/decomposed.h"
#include "strata/op/legalize.h"
#include "strata/op/linalg/gmm.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr const char* kSelf = "ragged_dot";

bool in(const Ints& list, std::int64_t d) {
  return std::find(list.begin(), list.end(), d) != list.end();
}

enum class Mode { free, contracting, batching };

struct RaggedDims {
  DotDims dot;
  std::int64_t ragged = 0, group = -1;  // of lhs; of rhs, -1 for none
  Mode mode = Mode::free;
  Ints before;  // dimensions of lhs that group_sizes has before the groups
};

Ints free_dims(int rank, const Ints& batch, const Ints& contract) {
  Ints out;
  for (std::int64_t d = 0; d < rank; ++d)
    if (!in(batch, d) && !in(contract, d)) out.push_back(d);
  return out;
}

void expect_range(const char* what, const Ints& list, int rank) {
  for (std::int64_t d : list)
    if (d < 0 || d >= rank)
      throw Error(kSelf, "{} has {}, which is out of range for rank {}", what, d, rank);
}

RaggedDims dims_of(const Attrs& attrs, int lhs_rank, int rhs_rank) {
  auto list = [&](const char* name) {
    return attrs.has(name) ? expect_attr<Ints>(kSelf, attrs, name) : Ints{};
  };
  RaggedDims d;
  d.dot = {list("lhs_batching_dimensions"), list("rhs_batching_dimensions"),
           list("lhs_contracting_dimensions"), list("rhs_contracting_dimensions")};
  Ints ragged = list("lhs_ragged_dimensions"), group = list("rhs_group_dimensions");
  if (ragged.size() != 1)
    throw Error(kSelf, "lhs must have exactly one ragged dimension, got {}", ragged.size());
  expect_range("lhs_ragged_dimensions", ragged, lhs_rank);
  expect_range("rhs_group_dimensions", group, rhs_rank);
  d.ragged = ragged[0];
  d.mode = in(d.dot.lhs_batch, d.ragged)      ? Mode::batching
           : in(d.dot.lhs_contract, d.ragged) ? Mode::contracting
                                              : Mode::free;
  std::size_t wanted = d.mode == Mode::free ? 1 : 0;
  if (group.size() != wanted)
    throw Error(kSelf, "rhs must have {} group dimensions for this ragged dimension, got {}",
                wanted, group.size());
  if (!group.empty()) d.group = group[0];
  if (d.group >= 0 && (in(d.dot.rhs_batch, d.group) || in(d.dot.rhs_contract, d.group)))
    throw Error(kSelf, "the group dimension {} of rhs is batching or contracting", d.group);
  auto until = [&](const Ints& dims) {
    for (std::int64_t i : dims) {
      if (i == d.ragged) return;
      d.before.push_back(i);
    }
  };
  until(d.dot.lhs_batch);
  if (d.mode == Mode::free) until(free_dims(lhs_rank, d.dot.lhs_batch, d.dot.lhs_contract));
  if (d.mode == Mode::contracting) until(d.dot.lhs_contract);
  return d;
}
RaggedDims dims_of(const Op& op) {
  return dims_of(op.attrs, op.operand(0)->rank(), op.operand(1)->rank());
}

// ---- inference ---------------------------------------------------------------------------------

/// Checks one side's batching and contracting dimensions.
void expect_side(const char* side, const Type& type, const Ints& batch, const Ints& contract) {
  std::vector<bool> used(static_cast<std::size_t>(type.rank()), false);
  for (const Ints* list : {&batch, &contract})
    for (std::int64_t d : *list) {
      if (d < 0 || d >= type.rank())
        throw Error(kSelf, "{} dimension {} is out of range for {}", side, d, type.to_string());
      if (used[static_cast<std::size_t>(d)])
        throw Error(kSelf, "{} dimension {} is given twice", side, d);
      used[static_cast<std::size_t>(d)] = true;
    }
}
void expect_pairs(const char* kind, const Type& lhs, const Type& rhs, const Ints& l,
                  const Ints& r) {
  if (l.size() != r.size())
    throw Error(kSelf, "{} dimensions must pair up, got {} and {}", kind, l.size(), r.size());
  for (std::size_t i = 0; i < l.size(); ++i)
    if (!may_equal(lhs.shape().dim(static_cast<int>(l[i])),
                   rhs.shape().dim(static_cast<int>(r[i]))))
      throw Error(kSelf, "{} dimensions {} of {} and {} of {} differ in size", kind, l[i],
                  lhs.to_string(), r[i], rhs.to_string());
}

void expect_group_sizes(const RaggedDims& d, const Type& lhs, const Type& sizes) {
  if (!is_integer(sizes.dtype()) || sizes.rank() < 1)
    throw Error(kSelf, "group_sizes must be lists of integers, got {}", sizes.to_string());
  if (sizes.rank() == 1) return;
  if (sizes.rank() != static_cast<int>(d.before.size()) + 1)
    throw Error(kSelf, "group_sizes must have rank {}, got {}", d.before.size() + 1,
                sizes.to_string());
  for (std::size_t i = 0; i < d.before.size(); ++i)
    if (!may_equal(sizes.shape().dim(static_cast<int>(i)),
                   lhs.shape().dim(static_cast<int>(d.before[i]))))
      throw Error(kSelf, "dimension {} of group_sizes {} must have the size of dimension {} of {}",
                  i, sizes.to_string(), d.before[i], lhs.to_string());
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands(kSelf, operands, 3);
  const Type &lhs = operands[0]->type(), &rhs = operands[1]->type(), &sizes = operands[2]->type();
  RaggedDims d = dims_of(attrs, lhs.rank(), rhs.rank());
  expect_side("lhs", lhs, d.dot.lhs_batch, d.dot.lhs_contract);
  expect_side("rhs", rhs, d.dot.rhs_batch, d.dot.rhs_contract);
  expect_pairs("batching", lhs, rhs, d.dot.lhs_batch, d.dot.rhs_batch);
  expect_pairs("contracting", lhs, rhs, d.dot.lhs_contract, d.dot.rhs_contract);
  expect_group_sizes(d, lhs, sizes);
  const Dim& groups = sizes.shape().dim(sizes.rank() - 1);
  if (d.group >= 0 && !may_equal(groups, rhs.shape().dim(static_cast<int>(d.group))))
    throw Error(kSelf, "the group dimension {} of {} must have the size of the last of {}", d.group,
                rhs.to_string(), sizes.to_string());
  std::vector<Dim> dims;
  if (d.mode == Mode::contracting) dims.push_back(groups);
  auto take = [&](const Type& type, std::int64_t i) {
    dims.push_back(type.shape().dim(static_cast<int>(i)));
  };
  for (std::int64_t i : d.dot.lhs_batch) take(lhs, i);
  for (std::int64_t i : free_dims(lhs.rank(), d.dot.lhs_batch, d.dot.lhs_contract)) take(lhs, i);
  for (std::int64_t i : free_dims(rhs.rank(), d.dot.rhs_batch, d.dot.rhs_contract))
    if (i != d.group) take(rhs, i);
  return {lhs.with(Shape(std::move(dims)))};
}

/// The result's dtype is the program's choice; its shape is not.
void verify(const Op& op) {
  Type inferred = infer(op.operands, op.attrs, op.regions)[0];
  if (op.num_results() != 1) throw Error(kSelf, "has one result, got {}", op.num_results());
  const Type& stated = op.result()->type();
  if (!stated.is_tensor() || !may_equal(stated.shape(), inferred.shape()))
    throw Error(kSelf, "the result is {}, but the operands give {}", stated.to_string(),
                inferred.to_string());
  if (is_complex(stated.dtype()) != is_complex(inferred.dtype()))
    throw Error(kSelf, "a product of {} cannot be {}", name(op.operand(0)->dtype()),
                name(stated.dtype()));
}

// ---- definition --------------------------------------------------------------------------------

/// [group, lhs's dimensions...]: whether an element of lhs belongs to the group. Groups follow each
/// other; i64 sums cannot overflow.
Value* membership(Builder& b, const RaggedDims& d, Value* lhs, Value* sizes) {
  std::int64_t groups = sizes->shape()[sizes->rank() - 1];
  std::vector<Dim> dims{Dim(groups)};
  dims.insert(dims.end(), lhs->shape().dims().begin(), lhs->shape().dims().end());
  Type numbers(DType::i64, Shape(dims));
  std::vector<Dim> table =
      sizes->shape().dims();  // [..., g, g]: sizes of groups up to, and before, each
  table.push_back(Dim(groups));
  Type pairs(DType::i64, Shape(table));
  Ints from;
  for (int i = 0; i < sizes->rank(); ++i) from.push_back(i);
  Value* all = broadcast_in_dim(b, convert(b, sizes, DType::i64), pairs.shape(), from);
  Value *earlier = iota(b, pairs, pairs.rank() - 2), *group = iota(b, pairs, pairs.rank() - 1);
  auto total = [&](const char* which) {
    return reduce_sum(b, select(b, compare(b, earlier, group, which), all, zeros(b, pairs)),
                      {pairs.rank() - 2});
  };
  auto spread = [&](Value* bound) {  // [..., g] over the elements of lhs
    Ints places;
    if (sizes->rank() > 1)
      for (std::int64_t i : d.before) places.push_back(i + 1);
    places.push_back(0);
    return broadcast_in_dim(b, bound, numbers.shape(), places);
  };
  Value* at = iota(b, numbers, static_cast<int>(d.ragged) + 1);
  return and_(b, compare(b, spread(total("LT")), at, "LE"),
              compare(b, at, spread(total("LE")), "LT"));
}

/// x for each group: zero where it does not belong.
Value* masked(Builder& b, Value* mask, Value* x) {
  Value* all = broadcast_leading(b, x, mask->shape()[0]);
  return select(b, mask, all, zeros_like(b, all));
}

/// Free: every row meets every group's matrix; its own is chosen.
Value* free_product(Builder& b, const Op& op, const RaggedDims& d, Value* lhs, Value* rhs,
                    Value* sizes) {
  Value* all = dot_general(b, lhs, rhs, d.dot, op.result()->dtype());
  Ints rhs_free = free_dims(rhs->rank(), d.dot.rhs_batch, d.dot.rhs_contract);
  Ints lhs_free = free_dims(lhs->rank(), d.dot.lhs_batch, d.dot.lhs_contract);
  auto own = static_cast<int>(d.dot.lhs_batch.size() + lhs_free.size());
  int group = own + static_cast<int>(std::find(rhs_free.begin(), rhs_free.end(), d.group) -
                                     rhs_free.begin());
  // The mask has the group, then lhs's dimensions; contracting ones say all the same.
  Value* mask = membership(b, d, lhs, sizes);
  Ints first(static_cast<std::size_t>(mask->rank()), 0), limit = mask->shape().sizes();
  for (std::int64_t i : d.dot.lhs_contract)
    limit[static_cast<std::size_t>(i) + 1] =
        std::min<std::int64_t>(limit[static_cast<std::size_t>(i) + 1], 1);
  mask = slice(b, mask, first, limit);
  Ints order{0};
  for (std::int64_t i : d.dot.lhs_batch) order.push_back(i + 1);
  for (std::int64_t i : lhs_free) order.push_back(i + 1);
  for (std::int64_t i : d.dot.lhs_contract) order.push_back(i + 1);
  mask = transpose(b, mask, order);
  std::vector<Dim> kept(mask->shape().dims().begin(), mask->shape().dims().begin() + own + 1);
  mask = reshape(b, mask, Shape(std::move(kept)));
  Ints places{group};
  for (int i = 0; i < own; ++i) places.push_back(i);
  mask = broadcast_in_dim(b, mask, all->shape(), places);
  return reduce_sum(b, select(b, mask, all, zeros_like(b, all)), {group});
}

/// The ragged dimension and those before it as rhs has them (all are contracting or batching).
RaggedDims of_rhs(const RaggedDims& d) {
  auto partner = [&](std::int64_t dim) {
    for (std::size_t i = 0; i < d.dot.lhs_batch.size(); ++i)
      if (d.dot.lhs_batch[i] == dim) return d.dot.rhs_batch[i];
    for (std::size_t i = 0; i < d.dot.lhs_contract.size(); ++i)
      if (d.dot.lhs_contract[i] == dim) return d.dot.rhs_contract[i];
    STRATA_UNREACHABLE("dimension {} of lhs has no partner", dim);
  };
  RaggedDims out = d;
  out.ragged = partner(d.ragged);
  for (std::int64_t& dim : out.before) dim = partner(dim);
  return out;
}

/// Contracting: one product a group, of what belongs to it on both sides.
Value* contracted_product(Builder& b, const Op& op, const RaggedDims& d, Value* lhs, Value* rhs,
                          Value* sizes) {
  DotDims dims{prepended(0, shifted(d.dot.lhs_batch)), prepended(0, shifted(d.dot.rhs_batch)),
               shifted(d.dot.lhs_contract), shifted(d.dot.rhs_contract)};
  return dot_general(b, masked(b, membership(b, d, lhs, sizes), lhs),
                     masked(b, membership(b, of_rhs(d), rhs, sizes), rhs), dims,
                     op.result()->dtype());
}

/// x with its dimensions in this order.
Value* ordered(Builder& b, Value* x, const Ints& order) {
  Ints same(order.size());
  std::iota(same.begin(), same.end(), 0);
  return order == same ? x : transpose(b, x, order);
}

/// The product by one matrix a group (op/linalg/gmm.h) where there is no batch and one dimension of
/// each role; null else.
Value* grouped_product(Builder& b, const Op& op, const RaggedDims& d, Value* lhs, Value* rhs,
                       Value* sizes) {
  const DType dtype = lhs->dtype();
  const bool plain = d.mode != Mode::batching && d.dot.lhs_batch.empty() &&
                     d.dot.lhs_contract.size() == 1 && lhs->rank() == 2 && sizes->rank() == 1 &&
                     rhs->rank() == (d.mode == Mode::free ? 3 : 2);
  const bool is_static = lhs->shape().is_static() && rhs->shape().is_static();
  if (!plain || !is_static || rhs->dtype() != dtype || op.result()->dtype() != dtype ||
      !gmm_takes(dtype, sizes->dtype()))
    return nullptr;
  const std::int64_t k = d.dot.lhs_contract[0], rhs_k = d.dot.rhs_contract[0];
  if (d.mode == Mode::contracting)  // rows of groups meet; both sides have one more dimension
    return tgmm(b, ordered(b, lhs, {k, 1 - k}), ordered(b, rhs, {rhs_k, 1 - rhs_k}), sizes);
  const std::int64_t out = 3 - d.group - rhs_k;
  const bool turned = out < rhs_k;
  rhs = ordered(b, rhs, turned ? Ints{d.group, out, rhs_k} : Ints{d.group, rhs_k, out});
  return gmm(b, ordered(b, lhs, {1 - k, k}), rhs, sizes, turned);
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  RaggedDims d = dims_of(op);
  Value *lhs = operands[0], *rhs = operands[1], *sizes = operands[2];
  if (Value* y = grouped_product(b, op, d, lhs, rhs, sizes)) return {y};
  if (op.result()->shape().is_static() &&
      (op.result()->shape().count() == 0 || lhs->shape().count() == 0))
    return {zeros(b, op.result()->type())};
  switch (d.mode) {
    case Mode::free: return {free_product(b, op, d, lhs, rhs, sizes)};
    case Mode::contracting: return {contracted_product(b, op, d, lhs, rhs, sizes)};
    case Mode::batching: return {dot_general(b, lhs, rhs, d.dot, op.result()->dtype())};
  }
  STRATA_UNREACHABLE("mode {}", static_cast<int>(d.mode));
}

// ---- sharding, cost ----------------------------------------------------------------------------

/// Batching and free dimensions pass through, but the ragged one, which groups cut anywhere.
Factors shard(const Op& op) {
  FactorTable t(op);
  RaggedDims d = dims_of(op);
  const Shape &lhs = op.operand(0)->shape(), &rhs = op.operand(1)->shape();
  int at = 0;
  auto size = [](const Shape& shape, std::int64_t i) {
    return shape.dim(static_cast<int>(i)).bound();
  };
  int groups_at = op.operand(2)->rank() - 1;
  int group = t.factor('n', op.operand(2)->shape().dim(groups_at).bound());
  t.operand(2, groups_at, group);
  if (d.mode == Mode::contracting) t.result(0, at++, group);
  if (d.group >= 0) t.operand(1, static_cast<int>(d.group), group);
  auto sized = [&](std::int64_t dim, int f) {
    for (std::size_t i = 0; i < d.before.size() && groups_at > 0; ++i)
      if (d.before[i] == dim) t.operand(2, static_cast<int>(i), f);
  };
  for (std::size_t i = 0; i < d.dot.lhs_batch.size(); ++i) {
    int f = t.factor('p', size(lhs, d.dot.lhs_batch[i]));
    t.operand(0, static_cast<int>(d.dot.lhs_batch[i]), f);
    t.operand(1, static_cast<int>(d.dot.rhs_batch[i]), f);
    sized(d.dot.lhs_batch[i], f);
    t.result(0, at++, f);
  }
  for (std::int64_t i : free_dims(lhs.rank(), d.dot.lhs_batch, d.dot.lhs_contract)) {
    int f = t.factor(i == d.ragged ? 'n' : 'p', size(lhs, i));
    t.operand(0, static_cast<int>(i), f);
    sized(i, f);
    t.result(0, at++, f);
  }
  for (std::int64_t i : free_dims(rhs.rank(), d.dot.rhs_batch, d.dot.rhs_contract)) {
    if (i == d.group) continue;
    int f = t.factor('p', size(rhs, i));
    t.operand(1, static_cast<int>(i), f);
    t.result(0, at++, f);
  }
  for (std::size_t i = 0; i < d.dot.lhs_contract.size(); ++i) {
    int f = t.factor(d.mode == Mode::contracting ? 'n' : 'r', size(lhs, d.dot.lhs_contract[i]));
    t.operand(0, static_cast<int>(d.dot.lhs_contract[i]), f);
    t.operand(1, static_cast<int>(d.dot.rhs_contract[i]), f);
    sized(d.dot.lhs_contract[i], f);
  }
  return t.take();
}

Work cost(const Op& op) {
  double k = 1;
  for (std::int64_t i : dims_of(op).dot.lhs_contract)
    k *= static_cast<double>(
        std::max<std::int64_t>(op.operand(0)->shape().dim(static_cast<int>(i)).bound(), 1));
  return {2 * k * elements(op), bytes_moved(op)};
}

}  // namespace

const OpDef& ragged_dot_def() {
  static const OpDef def{
      .info = {.name = "chlo.ragged_dot",
               .infer = infer,
               .text = &ir::formats::ragged_dot,
               .verify = verify},
      .summary = "a product one of whose dimensions is cut into groups (CHLO, ragged_dot)",
      .traits = {.takes_complex = true},
      .evaluate = evaluate_decomposed,
      .jvp = jvp_decomposed,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = transpose_decomposed,
      .batch = batch_decomposed,
      .shard = shard,
      .cost = cost,
      .lowering = None{"gmm, tgmm, or a dot_general and a choice of groups (decompose)"},
      .decompose = decompose,
  };
  return def;
}

}  // namespace strata::op
