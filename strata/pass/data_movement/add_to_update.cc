#include "strata/pass/data_movement/add_to_update.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "strata/ir/uses.h"
#include "strata/op/build.h"
#include "strata/op/control/scan.h"
#include "strata/op/index/scatter.h"
#include "strata/op/kind.h"
#include "strata/op/lowering_kind.h"
#include "strata/pass/negative_zero.h"
#include "strata/pass/parents.h"
#include "strata/pass/rewrite.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::Op;
using ir::Value;
using ir::Values;

/// A part is added by itself when it is at most one of so many.
constexpr std::int64_t kParts = 4;

class SumsInPlace {
 public:
  explicit SumsInPlace(const Block& block) : uses_(block), zeros_(block), parent_(block) {}

  /// Which sums to say anew, with the operand that is zero but for a part.
  std::unordered_map<const Op*, int> find(const Block& block) {
    std::unordered_map<const Op*, int> out;
    ir::walk(block, [&](const Op& op) {
      if (!op::kind::add(op) || !is_in_loop(*op.block())) return;
      for (int part : {1, 0})
        if (fits(op, part)) {
          out.emplace(&op, part);
          changed_.insert(op.result());
          return;
        }
    });
    return out;
  }

 private:
  bool is_in_loop(const Block& block) const {
    const Op* op = parent_(&block);
    return op && (op::is_structured(*op, op::Structured::Kind::while_) ||
                  op::is_structured(*op, op::Structured::Kind::scan));
  }

  bool fits(const Op& sum, int part) {
    const Value *x = sum.operand(1 - part), *sparse = sum.operand(part);
    return sparse->op() && x != sparse && uses_.count(sparse) <= 1 && uses_.count(x) >= 1 &&
           lies(x) && is_sparse(*sparse->op()) &&
           (!(is_float(x->dtype()) || is_complex(x->dtype())) || zeros_.never_in(x));
  }

  /// Whether a value is in memory that may be changed: a carry, or what is made of one there.
  bool lies(const Value* x) const {
    if (!x->op()) return true;
    return changed_.count(x) != 0 ||
           std::holds_alternative<op::Update>(op::def(*x->op()).lowering) ||
           std::holds_alternative<op::Structured>(op::def(*x->op()).lowering);
  }

  /// The value itself, or what a loop's constant is outside.
  const Value* source(const Value* v) const {
    while (!v->op()) {
      const Op* op = parent_(v->block());
      if (!op || !op::is_structured(*op, op::Structured::Kind::scan)) break;
      if (static_cast<std::size_t>(v->index()) >= op::ScanParts(*op).consts) break;
      v = op->operand(v->index());
    }
    return v;
  }

  bool is_zero(const Value* v) const {
    v = source(v);
    while (op::kind::broadcast_in_dim(v->op())) v = source(v->op()->operand(0));
    const ir::Attr* value = op::kind::constant(v->op()) ? v->op()->attrs.find("value") : nullptr;
    const auto* literal = value ? std::get_if<Literal>(value) : nullptr;
    return literal && literal->count() > 0 && (literal->count() == 1 || literal->is_splat()) &&
           !is_complex(literal->dtype()) && literal->number(0) == 0 &&
           !std::signbit(literal->number(0));
  }

  static bool is_part(const Value* part, const Op& op) {
    const Shape& whole = op.result()->shape();
    return part->shape().is_static() && whole.is_static() &&
           kParts * part->shape().count() <= whole.count();
  }

  bool is_sparse(const Op& op) const {
    if (op.num_results() != 1 || op.operands.empty()) return false;
    if (op::kind::dynamic_update_slice(op))
      return is_zero(op.operand(0)) && is_part(op.operand(1), op);
    if (op::kind::pad(op)) {
      auto none = [&](const char* name, auto&& good) {
        const Ints& amounts = op.attr<Ints>(name);
        return std::all_of(amounts.begin(), amounts.end(), good);
      };
      auto not_negative = [](std::int64_t n) { return n >= 0; };
      return is_zero(op.operand(1)) && is_part(op.operand(0), op) &&
             none("edge_padding_low", not_negative) && none("edge_padding_high", not_negative) &&
             none("interior_padding", [](std::int64_t n) { return n == 0; });
    }
    if (!op::kind::scatter(op) || !op.regions.empty()) return false;
    const std::string& combiner = op.attr<std::string>("combiner");
    const Value* updates = op::scatter_updates(op);
    const op::IndexDims dims = op::scatter_dims(op.attrs);
    std::int64_t windows = updates->shape().count();
    for (std::int64_t d : dims.window)
      windows /= std::max<std::int64_t>(1, updates->shape()[static_cast<int>(d)]);
    const bool once = windows == 1 || op.attr<bool>("unique_indices");
    return is_zero(op.operand(0)) && is_part(updates, op) && once &&
           (combiner == "add" || combiner == "assign");
  }

  ir::Uses uses_;
  NegativeZeroAnalysis zeros_;
  Parents parent_;
  std::unordered_set<const Value*> changed_;  // sums that become updates (lookup only)
};

/// x + v at `starts`, the rest of x as it is.
Value* add_at(Builder& b, Value* x, Value* v, const Values& starts) {
  Value* now = op::dynamic_slice(b, x, starts, v->shape().sizes());
  return op::dynamic_update_slice(b, x, op::add(b, now, v), starts);
}

Value* sum(Builder& b, Value* x, const Op& sparse) {
  if (op::kind::dynamic_update_slice(sparse))
    return add_at(b, x, sparse.operand(1),
                  Values(sparse.operands.begin() + 2, sparse.operands.end()));
  if (op::kind::pad(sparse)) {
    Values starts;
    for (std::int64_t low : sparse.attr<Ints>("edge_padding_low"))
      starts.push_back(op::scalar(b, DType::i64, static_cast<double>(low)));
    return add_at(b, x, sparse.operand(0), starts);
  }
  ir::Attrs attrs = sparse.attrs;
  attrs.set("combiner", std::string("add"));
  return b
      .create(sparse.info(), {x, op::scatter_indices(sparse), op::scatter_updates(sparse)},
              std::move(attrs))
      .result();
}

}  // namespace

bool fold_adds_into_updates(Block& block) {
  const std::unordered_map<const Op*, int> found = SumsInPlace(block).find(block);
  if (found.empty()) return false;
  return rewrite(block, [&](Builder& b, const Op& op) -> Values {
    auto sparse = found.find(&op);
    if (sparse == found.end()) return {};
    return {sum(b, op.operand(1 - sparse->second), *op.operand(sparse->second)->op())};
  });
}

}  // namespace strata::pass
