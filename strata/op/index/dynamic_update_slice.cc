// stablehlo.dynamic_update_slice: an array with a window replaced at a position known at run time.
//
// Contract (StableHLO, dynamic_update_slice): operands [x, update, starts...].
//   (C1) the result has the type of x; (C2) one dtype; (C3) one rank; (C4) one start per dimension,
//   (C5) scalars of one integer dtype; (C6) shape(update) <= shape(x). Starts are clamped so that
//   the window is inside.
#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/control/unrolled.h"
#include "strata/op/index/indexing.h"
#include "strata/op/quantized/quantized.h"

namespace strata::op {
namespace {

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&,
                        std::span<const std::unique_ptr<Block>>) {
  const char* self = "dynamic_update_slice";
  if (operands.size() < 2)
    throw Error(self, "expected an array and an update, got {} operands", operands.size());
  const Type &x = operands[0]->type(), &update = operands[1]->type();
  for (std::size_t i = 0; i < 2; ++i)
    if (!operands[i]->type().is_tensor())
      throw Error(self, "operands must be arrays, got {} (I{})", operands[i]->type().to_string(),
                  i + 1);
  if (x.dtype() != update.dtype())
    throw Error(self, "update must have the dtype of the array, got {} and {} (C2)",
                update.to_string(), x.to_string());
  if (x.rank() != update.rank())
    throw Error(self, "update must have the rank of the array, got {} and {} (C3)",
                update.to_string(), x.to_string());
  expect_starts(self, operands.subspan(2), x.rank(), {.count = "C4", .types = "C5", .input = "I3"});
  for (int d = 0; d < x.rank(); ++d) {
    const Dim &whole = x.shape().dim(d), &part = update.shape().dim(d);
    if (whole.is_static() && part.is_static() && part.size() > whole.size())
      throw Error(self, "update {} does not fit {} in dimension {} (C6)", update.to_string(),
                  x.to_string(), d);
  }
  return {x};
}

/// Room for the start of dimension d.
std::int64_t slack(const Op& op, int d) {
  return op.operand(0)->shape()[d] - op.operand(1)->shape()[d];
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  std::vector<std::int64_t> strides = operands[0].shape().strides();
  std::int64_t first = 0;
  for (std::size_t d = 0; d < strides.size(); ++d)
    first += strides[d] * clamped_start(operands[d + 2], 0, slack(op, static_cast<int>(d)));
  Literal out(operands[0].type());
  if (out.bytes() > 0) std::memcpy(out.mutable_data(), operands[0].data(), out.bytes());
  for_each_index(operands[1].shape(), [&](std::span<const std::int64_t> index, std::int64_t from) {
    copy_element(operands[1], from, out, first + linear_index(index, strides));
  });
  return {std::move(out)};
}

Values starts_of(std::span<Value* const> operands) {
  return Values(operands.begin() + 2, operands.end());
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  Value* result = again(b, op, operands).result();
  if (!tangents[0] && !tangents[1]) return {{result}, {nullptr}};
  Value* x = or_zeros(b, tangents[0], operands[0]);
  Value* update = or_zeros(b, tangents[1], operands[1]);
  return {{result}, {dynamic_update_slice(b, x, update, starts_of(operands))}};
}

Values transpose_rule(Builder& b, const Op& op, std::span<Value* const> operands,
                      const std::vector<bool>& linear, std::span<Value* const> cotangents) {
  Values out(operands.size(), nullptr);
  Value* ct = cotangents[0];
  if (ct == nullptr) return out;
  Values starts = starts_of(operands);
  if (linear[0]) out[0] = dynamic_update_slice(b, ct, zeros(b, op.operand(1)->type()), starts);
  if (linear[1]) out[1] = dynamic_slice(b, ct, starts, op.operand(1)->shape().sizes());
  return out;
}

/// Starts of its own for each example: a scatter of one slice each, with starts clamped beforehand.
Value* batch_by_scatter(Builder& b, const Op& op, Value* x, Value* update,
                        std::span<Value* const> operands, const std::vector<bool>& batched,
                        std::int64_t size) {
  IndexDims dims;  // for one example: no outer dimensions, every dimension a window
  Values starts;
  for (int d = 0; d < op.result()->rank(); ++d) {
    dims.window.push_back(d);
    dims.index_map.push_back(d);
    Value* start = operands[static_cast<std::size_t>(d) + 2];
    starts.push_back(clamp(b, scalar(b, start->dtype(), 0), start,
                           start_bound(b, start->dtype(), slack(op, d))));
  }
  Value* indices =
      stack_starts(b, starts, std::vector<bool>(batched.begin() + 2, batched.end()), size);
  return scatter(b, x, indices, update, with_batch(dims, true, true), "assign", true);
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  bool any_start = std::find(batched.begin() + 2, batched.end(), true) != batched.end();
  if (!batched[0] && !batched[1] && !any_start) return {again(b, op, operands).results(), {false}};
  Value* x = batched_operand(b, operands[0], batched[0], size);
  Value* update = batched_operand(b, operands[1], batched[1], size);
  if (any_start) return {{batch_by_scatter(b, op, x, update, operands, batched, size)}, {true}};
  Values starts = starts_of(operands);
  starts.insert(starts.begin(), scalar(b, starts.empty() ? DType::i32 : starts[0]->dtype(), 0));
  return {{dynamic_update_slice(b, x, update, starts)}, {true}};
}

/// Dimensions that are replaced whole pass through; the others are needed as a whole.
Factors shard(const Op& op) {
  FactorTable t(op);
  for (int d = 0; d < op.result()->rank(); ++d) {
    auto whole = [&](int f) { t.operand(0, d, f), t.result(0, d, f); };
    share_if_whole(t, op.operand(0)->shape().dim(d), op.operand(1)->shape().dim(d), whole,
                   [&](int f) { t.operand(1, d, f); });
  }
  return t.take();
}

/// The window alone moves when it is done in place.
Work cost(const Op& op) { return {0, 2.0 * static_cast<double>(op.operand(1)->type().bytes())}; }

// ---- lowering ----------------------------------------------------------------------------------

constexpr std::int64_t kPiece =
    4096;  // elements of the minor-most dimension that one grid point copies

Pieces pieces(const Op& op) {
  const Shape& shape = op.operand(1)->shape();
  return {shape.rank() == 0 ? 1 : shape[shape.rank() - 1], kPiece};
}
std::int64_t grid(const Op& op) {
  const Shape& shape = op.operand(1)->shape();
  std::int64_t points = pieces(op).count();
  for (int d = 0; d + 1 < shape.rank(); ++d) points *= shape[d];
  return points;
}

/// Grid points: the outer dimensions of the update x pieces of the minor-most one.
void emit(LowerContext& context, const Op& op, std::span<loop::Ref* const> targets,
          const loop::Index& point) {
  loop::Builder& b = context.b;
  int rank = op.result()->rank();
  std::vector<loop::Index> at(static_cast<std::size_t>(rank)),
      start(static_cast<std::size_t>(rank));
  Pieces minor = pieces(op);
  loop::Index rest = b.div(point, minor.count());
  for (int d = rank - 2; d >= 0; --d) {
    std::int64_t size = op.operand(1)->shape()[d];
    at[static_cast<std::size_t>(d)] = b.mod(rest, size);
    rest = b.div(rest, size);
  }
  for (int d = 0; d < rank; ++d)
    start[static_cast<std::size_t>(d)] =
        lower_clamped_start(b, context.operand(op, d + 2, {}), slack(op, d));
  std::vector<std::int64_t> sizes = op.result()->shape().sizes();
  auto copy = [&] {
    std::vector<loop::Index> to(at);
    for (std::size_t d = 0; d < to.size(); ++d) to[d] = to[d] + start[d];
    b.store(targets[0], linearized(to, sizes), context.operand(op, 1, at));
  };
  if (rank == 0) return copy();
  if (is_unrolled(context)) {
    for (std::int64_t i = 0; i < minor.extent; ++i) {
      at.back() = i;
      copy();
    }
    return;
  }
  minor.vector(b, b.mod(point, minor.count()), copy_lanes(op.result()->dtype()),
               [&](loop::Index i) {
                 at.back() = i;
                 copy();
               });
}

}  // namespace

const OpDef& dynamic_update_slice_def() {
  static const OpDef d{
      .info = ir::inferred_by("C1",
                              {.name = "stablehlo.dynamic_update_slice",
                               .infer = infer,
                               .text = &ir::formats::dynamic_update_slice,
                               .quantized = quantized::moved},
                              "C2"),
      .summary =
          "an array with a window replaced at a run-time position (StableHLO, "
          "dynamic_update_slice)",
      .traits = {.moves_only = true},
      .evaluate = evaluate,
      .jvp = jvp,
      .linearize = None{"no regions"},
      .transpose = transpose_rule,
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = Update{grid, emit},
  };
  return d;
}

Value* dynamic_update_slice(Builder& b, Value* x, Value* update, const Values& starts) {
  Values operands{x, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return b.create(dynamic_update_slice_def().info, std::move(operands)).result();
}

}  // namespace strata::op
