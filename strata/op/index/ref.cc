// strata.ref_new, strata.ref_get, strata.ref_set: a mutable cell, in program order.
//
//   %r = ref_new %x        a cell that holds x        ref_get %r      what it holds now
//   ref_set %r, %y         it holds y from here on
//
// (C1) the value of ref_set has the cell's dtype and shape. All three are effects: kept though
// unused, never merged or reordered.
#include <cstring>

#include "strata/base/error.h"
#include "strata/op/control.h"
#include "strata/op/rules.h"

namespace strata::op {

const OpDef& ref_new_def();
const OpDef& ref_get_def();
const OpDef& ref_set_def();
namespace {

constexpr None kNoDerivative{"a mutable cell keeps no trace of its earlier values"};
constexpr None kNoBatch{"a cell made outside holds one value for all inputs"};
constexpr None kNoShard{"a cell is not partitioned"};
constexpr None kNoLowering{"cells exist in the reference evaluator only"};

void expect_count(const char* op, std::span<Value* const> operands, std::size_t count) {
  if (operands.size() != count)
    throw Error(op, "needs {} operands, got {}", count, operands.size());
}

const Type& expect_ref(const char* op, const Value* v) {
  if (!v->type().is_ref()) throw Error(op, "needs a reference, got {}", v->type().to_string());
  return v->type();
}

std::vector<Type> infer_new(std::span<Value* const> operands, const Attrs&,
                            std::span<const BlockPtr>) {
  expect_count("ref_new", operands, 1);
  if (!operands[0]->type().is_tensor())
    throw Error("ref_new", "needs a tensor, got {}", operands[0]->type().to_string());
  return {Type::ref(operands[0]->dtype(), operands[0]->shape())};
}

std::vector<Type> infer_get(std::span<Value* const> operands, const Attrs&,
                            std::span<const BlockPtr>) {
  expect_count("ref_get", operands, 1);
  const Type& ref = expect_ref("ref_get", operands[0]);
  return {Type(ref.dtype(), ref.shape())};
}

std::vector<Type> infer_set(std::span<Value* const> operands, const Attrs&,
                            std::span<const BlockPtr>) {
  expect_count("ref_set", operands, 2);
  const Type& ref = expect_ref("ref_set", operands[0]);
  if (operands[1]->type() != Type(ref.dtype(), ref.shape()))  // ref_set_c1
    throw Error("ref_set", "{} cannot hold {} (C1)", ref.to_string(),
                operands[1]->type().to_string());
  return {};
}

// A cell is a literal whose bytes are shared by all copies of it and written in place.
Literal copied(const Type& type, const Literal& from) {
  Literal out(type);
  std::memcpy(out.mutable_data(), from.data(), from.bytes());
  return out;
}

Literals evaluate_new(const Op& op, std::span<const Literal> operands, Evaluator&) {
  return {copied(op.result()->type(), operands[0])};
}
Literals evaluate_get(const Op& op, std::span<const Literal> operands, Evaluator&) {
  return {copied(op.result()->type(), operands[0])};
}
Literals evaluate_set(const Op&, std::span<const Literal> operands, Evaluator&) {
  std::memcpy(operands[0].storage().get(), operands[1].data(), operands[1].bytes());
  return {};
}

Work cost(const Op& op) { return {0, static_cast<double>(op.operands.back()->type().bytes())}; }

using Infer = std::vector<Type> (*)(std::span<Value* const>, const Attrs&,
                                    std::span<const BlockPtr>);

OpDef definition(const char* name, const char* summary, Infer infer, Evaluate evaluate) {
  return {
      .info = {.name = name, .infer = infer, .has_effect = true},
      .summary = summary,
      .traits = {},
      .evaluate = evaluate,
      .jvp = kNoDerivative,
      .linearize = kNoDerivative,
      .transpose = kNoDerivative,
      .batch = kNoBatch,
      .shard = kNoShard,
      .cost = cost,
      .lowering = kNoLowering,
  };
}

}  // namespace

Value* ref_new(Builder& b, Value* initial) {
  return b.create(ref_new_def().info, {initial}).result();
}
Value* ref_get(Builder& b, Value* ref) { return b.create(ref_get_def().info, {ref}).result(); }
void ref_set(Builder& b, Value* ref, Value* value) { b.create(ref_set_def().info, {ref, value}); }

const OpDef& ref_new_def() {
  static const OpDef def =
      definition("strata.ref_new", "a mutable cell with an initial value", infer_new, evaluate_new);
  return def;
}
const OpDef& ref_get_def() {
  static const OpDef def =
      definition("strata.ref_get", "what a cell holds now", infer_get, evaluate_get);
  return def;
}
const OpDef& ref_set_def() {
  static const OpDef def =
      definition("strata.ref_set", "replaces what a cell holds", infer_set, evaluate_set);
  return def;
}

}  // namespace strata::op
