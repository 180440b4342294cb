#include "strata/pass/data_movement/mask_sinking.h"

#include <algorithm>
#include <optional>

#include "strata/ir/uses.h"
#include "strata/op/build.h"
#include "strata/op/index/indexing.h"
#include "strata/op/index/scatter.h"
#include "strata/op/kind.h"
#include "strata/pass/rewrite.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::Op;
using ir::Value;
using ir::Values;

/// An update is worth saying by its part when that is at most one of so many.
constexpr std::int64_t kParts = 2;

struct Masked {
  Value* mask;
  const Op* update;
  bool kept;  // the update is what the mask chooses; else it is what it leaves
};

bool is_part_of(const Value* part, const Value* whole) {
  return part->shape().is_static() && whole->shape().is_static() &&
         kParts * part->shape().count() <= whole->shape().count();
}

const Op* update_of(const Value* made, const Value* old) {
  const Op* op = made->op();
  if (!op || op->num_results() != 1 || op->operands.empty() || op->operand(0) != old)
    return nullptr;
  if (op::kind::dynamic_update_slice(op)) return is_part_of(op->operand(1), old) ? op : nullptr;
  if (op::kind::scatter(op) && op->regions.empty())
    return is_part_of(op::scatter_updates(*op), old) ? op : nullptr;
  return nullptr;
}

std::optional<Masked> masked(const Op& op, const ir::Uses& uses) {
  if (!op::kind::select(op)) return std::nullopt;
  for (bool kept : {true, false}) {
    const Value *made = op.operand(kept ? 1 : 2), *old = op.operand(kept ? 2 : 1);
    if (const Op* update = update_of(made, old); update && uses.count(made) <= 1)
      return Masked{op.operand(0), update, kept};
  }
  return std::nullopt;
}

/// `v` where the update counts, `other` where it does not.
Value* chosen(Builder& b, const Masked& m, Value* mask, Value* v, Value* other) {
  return m.kept ? op::select(b, mask, v, other) : op::select(b, mask, other, v);
}

/// The one number that a mask repeats; null for another mask.
Value* one_number(Value* mask) {
  if (mask->rank() == 0) return mask;
  if (op::kind::broadcast_in_dim(mask->op()) && mask->op()->operand(0)->shape().count() == 1 &&
      mask->op()->operand(0)->rank() == 0)
    return mask->op()->operand(0);
  return nullptr;
}

Value* mask_slice(Builder& b, const Masked& m) {
  const Op& update = *m.update;
  Value *x = update.operand(0), *v = update.operand(1);
  const Values starts(update.operands.begin() + 2, update.operands.end());
  Value* mask = one_number(m.mask);
  if (!mask) mask = op::dynamic_slice(b, m.mask, starts, v->shape().sizes());
  Value* now = op::dynamic_slice(b, x, starts, v->shape().sizes());
  return op::dynamic_update_slice(b, x, chosen(b, m, mask, v, now), starts);
}

/// A mask with a number for each index, as an array of the indices' shape: one number for all, or
/// one for each position in dimensions that the indices go along with. Null for another.
Value* mask_of_indices(Builder& b, Value* mask, const op::IndexDims& dims, const Shape& indices) {
  if (Value* one = one_number(mask)) return one;
  if (!op::kind::broadcast_in_dim(mask->op())) return nullptr;
  const Op& spread = *mask->op();
  Ints along;
  for (std::int64_t d : spread.attr<Ints>("broadcast_dimensions")) {
    auto at = std::find(dims.operand_batch.begin(), dims.operand_batch.end(), d);
    if (at == dims.operand_batch.end()) return nullptr;
    along.push_back(dims.indices_batch[static_cast<std::size_t>(at - dims.operand_batch.begin())]);
  }
  Value* numbers = spread.operand(0);
  for (std::size_t i = 0; i < along.size(); ++i)
    if (numbers->shape()[static_cast<int>(i)] != indices[static_cast<int>(along[i])])
      return nullptr;
  return op::broadcast_in_dim(b, numbers, indices, along);
}

/// What changes nothing when it is combined; null where nothing does.
Value* neutral(Builder& b, const std::string& combiner, const Type& type) {
  if (combiner != "add") return nullptr;
  return op::constant(b, type, is_float(type.dtype()) ? -0.0 : 0.0);
}

Value* mask_scatter(Builder& b, const Masked& m) {
  const Op& update = *m.update;
  const op::IndexDims dims = op::scatter_dims(update.attrs);
  Value *x = update.operand(0), *indices = op::scatter_indices(update),
        *v = op::scatter_updates(update);
  const std::string& combiner = update.attr<std::string>("combiner");
  auto with = [&](Value* at, Value* updates) {
    ir::Attrs attrs = update.attrs;
    if (at != indices) attrs.set("indices_are_sorted", false);
    return b.create(update.info(), {x, at, updates}, std::move(attrs)).result();
  };
  if (is_signed(indices->dtype()))
    if (Value* mask = mask_of_indices(b, m.mask, dims, indices->shape()))
      return with(chosen(b, m, mask, indices, op::full_like(b, indices, -1)), v);
  if (is_complex(x->dtype())) return nullptr;
  auto in_window = [&](Value* whole) {
    return op::gather(b, whole, indices, dims, op::window_sizes(update, dims));
  };
  if (one_number(m.mask)) return nullptr;
  Value* other = combiner == "assign" ? in_window(x) : neutral(b, combiner, v->type());
  return other ? with(indices, chosen(b, m, in_window(m.mask), v, other)) : nullptr;
}

}  // namespace

bool sink_masks_into_updates(Block& block) {
  const ir::Uses uses(block);
  return rewrite(block, [&](Builder& b, const Op& op) -> Values {
    const std::optional<Masked> found = masked(op, uses);
    if (!found) return {};
    Value* made =
        op::kind::scatter(found->update) ? mask_scatter(b, *found) : mask_slice(b, *found);
    return made ? Values{made} : Values{};
  });
}

}  // namespace strata::pass
