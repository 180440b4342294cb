// strata.axis_reduce, axis_gather, axis_exchange, axis_permute, axis_vary: between the inputs of a
// vmap that names its axis.
//
// Contract: operands x and place; attributes `axis` (its name, for messages) and `axis_size`. (I2)
// place, where along the axis this input stands, is a scalar i32; (I3) axis_size is not negative.
//   axis_reduce    `combiner`: (C1) add, min or max, such as x's dtype has. x of all inputs
//   combined; the same for each. axis_gather    x of all inputs in the order of their places, along
//   a new first dimension; the same for each. axis_exchange  (C1) the first dimension of x has
//   axis_size elements. Row j of the result is row `place` of x of input j. axis_permute
//   `source_target_pairs` [n, 2]: (C1) pairs, (C2) with unique sources, (C3) unique targets, (C4)
//   none negative, (C5) none beyond the
//                  axis. x of the source of this input; zeros where it is no target.
//   axis_vary      x, as a value that may differ between inputs.
//
// axis_reduce and axis_vary may have a third operand, `like`, of which only is asked whether it
// differs between inputs. Then axis_reduce adds only where x differs and like does not, and is x
// elsewhere; axis_vary is x, and its transpose that axis_reduce of the cotangent. Attribute
// `invarying` of axis_reduce: whose result is used differently by the inputs, its cotangents are
// added before they go back; `varying` of axis_gather: its result counts as different. By reference
// what differs is seen in the bits.
//
// The place is batched by the vmap that names the axis and by no other (named_axis.h), which is how
// batching knows whose turn it is. By reference an axis is run as processes are: one for each
// place, as replicas of a grid. A program whose axis is not batched does not compile unless its
// size is 1.
#include "strata/op/collective/named_axis.h"

#include <array>
#include <map>

#include "strata/base/error.h"
#include "strata/ir/constraint.h"
#include "strata/op/build.h"
#include "strata/op/collective/collective.h"
#include "strata/op/collective/world.h"
#include "strata/op/index/indexing.h"
#include "strata/op/reduce/combiner.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr None kBatchedAway{
    "between the inputs of a vmap: what its batching makes of it is lowered"};

/// On axis_gather: its result counts as the same for all inputs.
constexpr const char* kKnownSame = "known_same";
constexpr const char* kVarying = "varying";
/// On axis_reduce.
constexpr const char* kInvarying = "invarying";
bool has_like(const Op& op) { return op.operands.size() == 3; }

using Flags = std::vector<bool>;
using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

std::int64_t axis_size(const Op& op) { return op.attr<std::int64_t>("axis_size"); }
NamedAxis axis_of(const Op& op, Value* place) {
  return {op.attr<std::string>("axis"), axis_size(op), place};
}
Attrs attrs_of(const NamedAxis& axis) { return {{"axis", axis.name}, {"axis_size", axis.size}}; }

// ---- contract ----------------------------------------------------------------------------------

std::int64_t expect_axis(std::string_view self, std::span<Value* const> operands,
                         const Attrs& attrs, bool may_have_like = false) {
  expect_operands(self, operands, may_have_like && operands.size() == 3 ? 3 : 2);
  if (!operands[0]->type().is_tensor())
    throw Error(std::string(self), "x must be a tensor, got {}", operands[0]->type().to_string());
  if (operands[1]->type() != Type::scalar(DType::i32))
    throw Error(std::string(self), "place must be a scalar i32, got {} (I2)",
                operands[1]->type().to_string());
  expect_attr<std::string>(self, attrs, "axis");
  const std::int64_t size = expect_attr<std::int64_t>(self, attrs, "axis_size");
  if (size < 0) throw Error(std::string(self), "axis_size must not be negative, got {} (I3)", size);
  return size;
}

using Regions = std::span<const std::unique_ptr<Block>>;

std::vector<Type> infer_reduce(std::span<Value* const> operands, const Attrs& attrs, Regions) {
  expect_axis("axis_reduce", operands, attrs, true);
  const std::string& given = expect_attr<std::string>("axis_reduce", attrs, "combiner");
  const std::optional<Combiner> combiner = parse_combiner(given);
  if (combiner != Combiner::add && combiner != Combiner::min && combiner != Combiner::max)
    throw Error("axis_reduce", "combiner must be add, min or max, got {} (C1)", given);
  ir::under("C1", [&] { expect_combiner("axis_reduce", *combiner, operands[0]->dtype()); });
  return {operands[0]->type()};
}
std::vector<Type> infer_gather(std::span<Value* const> operands, const Attrs& attrs, Regions) {
  return {with_leading(operands[0]->type(), expect_axis("axis_gather", operands, attrs))};
}
std::vector<Type> infer_vary(std::span<Value* const> operands, const Attrs& attrs, Regions) {
  expect_axis("axis_vary", operands, attrs, true);
  return {operands[0]->type()};
}
std::vector<Type> infer_exchange(std::span<Value* const> operands, const Attrs& attrs, Regions) {
  const std::int64_t size = expect_axis("axis_exchange", operands, attrs);
  const Type& x = operands[0]->type();
  if (x.rank() == 0 || !may_equal(x.shape().dim(0), Dim(size)))
    throw Error("axis_exchange",
                "the first dimension of {} must be the axis's, which has {} places (C1)",
                x.to_string(), size);
  return {x};
}
std::vector<Type> infer_permute(std::span<Value* const> operands, const Attrs& attrs, Regions) {
  const std::int64_t size = expect_axis("axis_permute", operands, attrs);
  const Literal& pairs = expect_attr<Literal>("axis_permute", attrs, "source_target_pairs");
  collective::expect_pairs("axis_permute", attrs);
  for (std::int64_t i = 0; i < pairs.count(); ++i)
    if (pairs.integer(i) >= size)
      throw Error("axis_permute", "source_target_pairs holds {} for an axis of {} places (C5)",
                  pairs.integer(i), size);
  return {operands[0]->type()};
}

Pairs pairs_of(const Op& op) {
  const Literal& list = op.attr<Literal>("source_target_pairs");
  Pairs out;
  for (std::int64_t i = 0; i + 1 < list.count(); i += 2)
    out.emplace_back(list.integer(i), list.integer(i + 1));
  return out;
}
/// The source of each place, or nothing.
std::vector<std::optional<std::int64_t>> sources_of(const Op& op) {
  std::vector<std::optional<std::int64_t>> out(static_cast<std::size_t>(axis_size(op)));
  for (auto [source, target] : pairs_of(op)) out[static_cast<std::size_t>(target)] = source;
  return out;
}

// ---- reference evaluation ----------------------------------------------------------------------

/// x of all places in order, as the processes of the grid that stand there bring it.
Literals everyones(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  Process& process = evaluator.process();
  const std::string self(short_name(op.name()));
  if (process.replicas() != axis_size(op))
    throw Error(self, "axis {} has {} places, but there are {} processes",
                op.attr<std::string>("axis"), axis_size(op), process.replicas())
        .at(op.where.text());
  ProcessGroup group;
  for (std::int64_t r = 0; r < process.replicas(); ++r)
    group.push_back({r, process.id().partition});
  Literals out(group.size());
  for (Literals& given :
       process.meet(group, fmt::format("{} over axis {}", self, op.attr<std::string>("axis")),
                    {operands[0], operands[1]}))
    out.at(static_cast<std::size_t>(given[1].integer(0))) = std::move(given[0]);
  return out;
}

bool all_alike(const Literals& all) {
  return std::all_of(all.begin(), all.end(),
                     [&](const Literal& x) { return x.same_bits(all.front()); });
}
Literals evaluate_reduce(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  if (has_like(op)) {
    const bool same = all_alike(everyones(op, operands, evaluator));
    const bool likes = all_alike(everyones(op, std::array{operands[2], operands[1]}, evaluator));
    if (same || !likes) return {operands[0]};
  }
  return {
      collective::reduced(op, op.result()->type(), everyones(op, operands, evaluator), evaluator)};
}
/// The rows side by side as the first dimension of a type.
Literal in_rows(const Literals& rows, const Type& type) {
  Literal out(type);
  std::size_t at = 0;
  for (const Literal& row : rows) {
    std::copy_n(row.data(), row.bytes(), out.mutable_data() + at);
    at += row.bytes();
  }
  return out;
}
Literals evaluate_gather(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  return {in_rows(everyones(op, operands, evaluator), op.result()->type())};
}
Literals evaluate_vary(const Op&, std::span<const Literal> operands, Evaluator&) {
  return {operands[0]};
}
Literals evaluate_exchange(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  const Type& type = op.result()->type();
  std::vector<Dim> dims = type.shape().dims();
  dims[0] = Dim(1);
  Literals rows;
  for (const Literal& x : everyones(op, operands, evaluator))
    rows.push_back(collective::part(x, type.with(Shape(dims)), 0, operands[1].integer(0)));
  return {in_rows(rows, type)};
}
Literals evaluate_permute(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  Literals all = everyones(op, operands, evaluator);
  const auto source = sources_of(op).at(static_cast<std::size_t>(operands[1].integer(0)));
  return {source ? std::move(all[static_cast<std::size_t>(*source)])
                 : Literal(op.result()->type())};
}

// ---- derivative and transpose ------------------------------------------------------------------

/// Linear in x: the same for its tangent.
JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  Values results = again(b, op, operands).results();
  if (!tangents[0]) return {results, {nullptr}};
  Values along(operands.begin(), operands.end());
  along[0] = tangents[0];
  return {results, again(b, op, along).results()};
}
JvpResult jvp_reduce(Builder& b, const Op& op, std::span<Value* const> operands,
                     std::span<Value* const> tangents) {
  if (tangents[0] && combiner_of(op) != Combiner::add)
    throw Error("axis_reduce", "the {} over axis {} has no derivative", name(combiner_of(op)),
                op.attr<std::string>("axis"))
        .at(op.where.text());
  return jvp(b, op, operands, tangents);
}

/// What each input got of a sum goes back to all that were added: the sum of the cotangents. An
/// exchange is its own transpose.
Values transpose_again(Builder& b, const Op& op, std::span<Value* const> operands, const Flags&,
                       std::span<Value* const> ct) {
  return {ct[0] ? again(b, op, std::array{ct[0], operands[1]}).result() : nullptr, nullptr};
}
/// What each of those that may differ made of a value that is the same for all, added.
Value* added_where_like(Builder& b, Value* ct, const NamedAxis& axis, Value* like) {
  Attrs attrs{{"axis", axis.name}, {"axis_size", axis.size}};
  attrs.set("combiner", std::string(name(Combiner::add)));
  return b.create("strata.axis_reduce", {ct, axis.place, like}, std::move(attrs)).result();
}
Values transpose_reduce(Builder& b, const Op& op, std::span<Value* const> operands,
                        const Flags& linear, std::span<Value* const> ct) {
  if (!ct[0]) return Values(operands.size(), nullptr);
  const NamedAxis axis = axis_of(op, operands[1]);
  if (has_like(op)) return {added_where_like(b, ct[0], axis, operands[2]), nullptr, nullptr};
  if (!op.attrs.has(kInvarying)) return transpose_again(b, op, operands, linear, ct);
  Value* of_all = added_where_like(b, ct[0], axis, constant(b, Type::scalar(DType::i32), 0));
  return {axis_vary(b, of_all, axis), nullptr};
}
/// Each gets back the sum of what all made of its row.
Values transpose_gather(Builder& b, const Op& op, std::span<Value* const> operands, const Flags&,
                        std::span<Value* const> ct) {
  if (!ct[0]) return {nullptr, nullptr};
  return {reduce_sum(b, axis_exchange(b, ct[0], axis_of(op, operands[1])), {0}), nullptr};
}
/// What all made of the one value that each has.
Values transpose_vary(Builder& b, const Op& op, std::span<Value* const> operands, const Flags&,
                      std::span<Value* const> ct) {
  if (!ct[0]) return Values(operands.size(), nullptr);
  const NamedAxis axis = axis_of(op, operands[1]);
  if (has_like(op)) return {added_where_like(b, ct[0], axis, operands[2]), nullptr, nullptr};
  return {axis_reduce(b, ct[0], axis, Combiner::add), nullptr};
}
Values transpose_permute(Builder& b, const Op& op, std::span<Value* const> operands, const Flags&,
                         std::span<Value* const> ct) {
  if (!ct[0]) return {nullptr, nullptr};
  Pairs back;
  for (auto [source, target] : pairs_of(op)) back.emplace_back(target, source);
  return {axis_permute(b, ct[0], axis_of(op, operands[1]), back), nullptr};
}

// ---- batching ----------------------------------------------------------------------------------

/// Over the axis itself, of x with its dimension in front, or of the one x of all; and over
/// another, of x with that one's dimension in front.
struct OverAxis {
  Batched (*each)(Builder&, const Op&, Value* x);
  Batched (*same)(Builder&, const Op&, Value* x);
  Value* (*other)(Builder&, const Op&, Value* x, const NamedAxis& axis);
};

Batched batch_over(const OverAxis& rule, Builder& b, const Op& op, std::span<Value* const> operands,
                   const Flags& batched, std::int64_t size) {
  if (!batched[1]) return {{rule.other(b, op, operands[0], axis_of(op, operands[1]))}, {true}};
  if (size != axis_size(op))
    throw Error(std::string(short_name(op.name())), "axis {} has {} places, not {}",
                op.attr<std::string>("axis"), axis_size(op), size);
  return (batched[0] ? rule.each : rule.same)(b, op, operands[0]);
}

/// With `like`: of which axis is told by the place; by another one nothing is asked.
Batched batch_with_like(Builder& b, const Op& op, std::span<Value* const> operands,
                        const Flags& batched, bool adds) {
  if (!batched[1])
    return {b.create(op.info(), Values(operands.begin(), operands.end()), op.attrs).results(),
            {batched[0]}};
  if (adds && batched[0] && !batched[2])
    return {{reduce(b, operands[0], {0}, Combiner::add)}, {false}};
  return {{operands[0]}, {batched[0]}};
}

Batched batch_reduce(Builder& b, const Op& op, std::span<Value* const> operands,
                     const Flags& batched, std::int64_t size) {
  if (has_like(op)) return batch_with_like(b, op, operands, batched, true);
  static constexpr OverAxis rule{
      .each = [](Builder& b, const Op& op, Value* x) -> Batched {
        return {{reduce(b, x, {0}, combiner_of(op))}, {false}};
      },
      .same = [](Builder& b, const Op& op, Value* x) -> Batched {
        return {{combiner_of(op) == Combiner::add
                     ? mul(b, x, full_like(b, x, static_cast<double>(axis_size(op))))
                     : x},
                {false}};
      },
      .other =
          [](Builder& b, const Op& op, Value* x, const NamedAxis& axis) {
            return axis_reduce(b, x, axis, combiner_of(op), op.attrs.has(kInvarying));
          },
  };
  return batch_over(rule, b, op, operands, batched, size);
}
Batched batch_gather(Builder& b, const Op& op, std::span<Value* const> operands,
                     const Flags& batched, std::int64_t size) {
  static constexpr OverAxis rule{
      .each = [](Builder&, const Op&, Value* x) -> Batched { return {{x}, {false}}; },
      .same = [](Builder& b, const Op& op, Value* x) -> Batched {
        return {{broadcast_leading(b, x, axis_size(op))}, {false}};
      },
      .other =
          [](Builder& b, const Op& op, Value* x, const NamedAxis& axis) {
            Value* all = axis_gather(b, x, axis, op.attrs.has(kKnownSame));
            if (op.attrs.has(kVarying)) all->op()->attrs.set(kVarying, true);
            return move_dim(b, all, 1, 0);
          },
  };
  Batched out = batch_over(rule, b, op, operands, batched, size);
  if (batched[1] && op.attrs.has(kVarying))
    out = {{broadcast_leading(b, out.results[0], size)}, {true}};
  return out;
}
Batched batch_vary(Builder& b, const Op& op, std::span<Value* const> operands, const Flags& batched,
                   std::int64_t size) {
  if (has_like(op)) return batch_with_like(b, op, operands, batched, false);
  static constexpr OverAxis rule{
      .each = [](Builder&, const Op&, Value* x) -> Batched { return {{x}, {true}}; },
      .same = [](Builder& b, const Op& op, Value* x) -> Batched {
        return {{broadcast_leading(b, x, axis_size(op))}, {true}};
      },
      .other = [](Builder& b, const Op&, Value* x,
                  const NamedAxis& axis) { return axis_vary(b, x, axis); },
  };
  return batch_over(rule, b, op, operands, batched, size);
}
Batched batch_exchange(Builder& b, const Op& op, std::span<Value* const> operands,
                       const Flags& batched, std::int64_t size) {
  static constexpr OverAxis rule{
      .each = [](Builder& b, const Op&, Value* x) -> Batched {
        return {{move_dim(b, x, 1, 0)}, {true}};
      },
      .same = [](Builder& b, const Op& op, Value* x) -> Batched {
        return {{move_dim(b, broadcast_leading(b, x, axis_size(op)), 1, 0)}, {true}};
      },
      .other =
          [](Builder& b, const Op&, Value* x, const NamedAxis& axis) {
            return move_dim(b, axis_exchange(b, move_dim(b, x, 1, 0), axis), 1, 0);
          },
  };
  return batch_over(rule, b, op, operands, batched, size);
}

/// By how much targets are behind their sources, round the axis, and which targets for each such
/// distance, as flags along the axis.
std::map<std::int64_t, Literal> distances(const Op& op) {
  const std::int64_t n = axis_size(op);
  std::map<std::int64_t, Literal> out;
  for (auto [source, target] : pairs_of(op))
    out.try_emplace((target - source + n) % n, Type(DType::i1, {n}))
        .first->second.set_integer(target, 1);
  return out;
}
/// Rows moved on along the first dimension. Cut over devices these are messages between neighbours,
/// where looking rows up would gather all of them.
Value* rotated_rows(Builder& b, Value* x, std::int64_t by) {
  const std::int64_t n = x->shape()[0];
  if (by == 0) return x;
  return concatenate(b, {slice_dim(b, x, 0, n - by, n), slice_dim(b, x, 0, 0, n - by)}, 0);
}

/// Along the first dimension the row of each place's source, zeros where there is none: for each
/// distance the rows that come from there. Cut over devices that is no more messages than gathering
/// all rows, and for a rotation one.
Value* permuted_rows(Builder& b, const Op& op, Value* x) {
  Value* out = nullptr;
  const std::map<std::int64_t, Literal> by = distances(op);
  const bool all = pairs_of(op).size() == static_cast<std::size_t>(axis_size(op));
  for (const auto& [distance, targets] : by) {
    Value* taken = rotated_rows(b, x, distance);
    if (out == nullptr && all) {
      out = taken;
      continue;
    }
    out = select(b, broadcast_in_dim(b, constant(b, targets), x->shape(), {0}), taken,
                 out == nullptr ? zeros_like(b, x) : out);
  }
  return out == nullptr ? zeros_like(b, x) : out;
}
Batched batch_permute(Builder& b, const Op& op, std::span<Value* const> operands,
                      const Flags& batched, std::int64_t size) {
  static constexpr OverAxis rule{
      .each = [](Builder& b, const Op& op, Value* x) -> Batched {
        return {{permuted_rows(b, op, x)}, {true}};
      },
      .same = [](Builder& b, const Op& op, Value* x) -> Batched {
        return {{permuted_rows(b, op, broadcast_leading(b, x, axis_size(op)))}, {true}};
      },
      .other = [](Builder& b, const Op& op, Value* x,
                  const NamedAxis& axis) { return axis_permute(b, x, axis, pairs_of(op)); },
  };
  return batch_over(rule, b, op, operands, batched, size);
}

// ---- an axis of one place ----------------------------------------------------------------------

void expect_one_place(const Op& op) {
  if (axis_size(op) != 1)
    throw Error(std::string(short_name(op.name())),
                "axis {} of {} places is no dimension of the program: the vmap that names it has "
                "not batched it",
                op.attr<std::string>("axis"), axis_size(op))
        .at(op.where.text())
        .unsupported();
}
Values alone(Builder&, const Op& op, std::span<Value* const> operands) {
  expect_one_place(op);
  return {operands[0]};
}
Values alone_gathered(Builder& b, const Op& op, std::span<Value* const> operands) {
  expect_one_place(op);
  return {broadcast_leading(b, operands[0], 1)};
}
Values alone_permuted(Builder& b, const Op& op, std::span<Value* const> operands) {
  expect_one_place(op);
  return {pairs_of(op).empty() ? zeros_like(b, operands[0]) : operands[0]};
}

// ---- definitions -------------------------------------------------------------------------------

struct Row {
  const char *name, *summary;
  decltype(ir::OpInfo::infer) infer;
  Evaluate by_reference;
  Jvp jvp;
  Transpose transpose;
  Batch batch;
  Decompose alone;
};

OpDef definition(const Row& row) {
  return {
      .info = {.name = row.name, .infer = row.infer},
      .summary = row.summary,
      .traits = {},
      .evaluate = row.by_reference,
      .jvp = row.jvp,
      .linearize = None{"no regions"},
      .transpose = row.transpose,
      .batch = row.batch,
      .shard = None{"batched away before programs are sharded"},
      .cost = move_cost,
      .lowering = kBatchedAway,
      .decompose = row.alone,
  };
}

Op& create(Builder& b, const char* name, Value* x, const NamedAxis& axis, Attrs attrs = {}) {
  for (auto& [key, value] : attrs_of(axis)) attrs.set(key, value);
  return b.create(name, {x, axis.place}, std::move(attrs));
}

}  // namespace

Value* axis_reduce(Builder& b, Value* x, const NamedAxis& axis, Combiner combiner, bool invarying) {
  Attrs attrs{{"combiner", std::string(name(combiner))}};
  if (invarying) attrs.set(kInvarying, true);
  return create(b, "strata.axis_reduce", x, axis, std::move(attrs)).result();
}
Value* axis_same_as(Builder& b, Value* x, const NamedAxis& axis, Value* like) {
  return b.create("strata.axis_vary", {x, axis.place, like}, attrs_of(axis)).result();
}
Value* axis_gather(Builder& b, Value* x, const NamedAxis& axis, bool known_same) {
  return create(b, "strata.axis_gather", x, axis, known_same ? Attrs{{kKnownSame, true}} : Attrs())
      .result();
}
Value* axis_vary(Builder& b, Value* x, const NamedAxis& axis) {
  return create(b, "strata.axis_vary", x, axis).result();
}
Value* axis_exchange(Builder& b, Value* x, const NamedAxis& axis) {
  return create(b, "strata.axis_exchange", x, axis).result();
}
Value* axis_permute(Builder& b, Value* x, const NamedAxis& axis, const Pairs& pairs) {
  Literal table(Type(DType::i64, {static_cast<std::int64_t>(pairs.size()), 2}));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    table.set_integer(static_cast<std::int64_t>(2 * i), pairs[i].first);
    table.set_integer(static_cast<std::int64_t>(2 * i + 1), pairs[i].second);
  }
  return create(b, "strata.axis_permute", x, axis, {{"source_target_pairs", std::move(table)}})
      .result();
}

std::span<const OpDef> named_axis_defs() {
  static const std::array defs{
      definition({.name = "strata.axis_reduce",
                  .summary = "an operand of all inputs of a vmap combined by add, min or max",
                  .infer = infer_reduce,
                  .by_reference = evaluate_reduce,
                  .jvp = jvp_reduce,
                  .transpose = transpose_reduce,
                  .batch = batch_reduce,
                  .alone = alone}),
      definition({.name = "strata.axis_gather",
                  .summary = "an operand of all inputs of a vmap, side by side",
                  .infer = infer_gather,
                  .by_reference = evaluate_gather,
                  .jvp = jvp,
                  .transpose = transpose_gather,
                  .batch = batch_gather,
                  .alone = alone_gathered}),
      definition(
          {.name = "strata.axis_exchange",
           .summary =
               "the axis of a vmap and the first dimension of its operand in each other's place",
           .infer = infer_exchange,
           .by_reference = evaluate_exchange,
           .jvp = jvp,
           .transpose = transpose_again,
           .batch = batch_exchange,
           .alone = alone}),
      definition({.name = "strata.axis_permute",
                  .summary = "an operand of another input of a vmap",
                  .infer = infer_permute,
                  .by_reference = evaluate_permute,
                  .jvp = jvp,
                  .transpose = transpose_permute,
                  .batch = batch_permute,
                  .alone = alone_permuted}),
      definition({.name = "strata.axis_vary",
                  .summary = "an operand as one that may differ between the inputs of a vmap",
                  .infer = infer_vary,
                  .by_reference = evaluate_vary,
                  .jvp = jvp,
                  .transpose = transpose_vary,
                  .batch = batch_vary,
                  .alone = alone}),
  };
  return defs;
}

}  // namespace strata::op
