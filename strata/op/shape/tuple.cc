// tuple, get_tuple_element: several values as one, and one of them again.
//
// Contract (spec: tuple): any operands. (C1) the result is the tuple of their types.
// Contract (spec: get_tuple_element): operand, a tuple; attribute `index`. (C1) index is within
// the tuple; (C2) the result has the type of that element.
//
// Evaluation and compilation begin with `without_tuples`; derivatives and batching come after it
// too.
#include "strata/op/shape/tuple.h"

#include <unordered_map>

#include "strata/base/error.h"
#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr None kGone{"tuples are taken apart before transforms, evaluation and compilation"};

std::vector<Type> infer_tuple(std::span<Value* const> operands, const Attrs&,
                              std::span<const std::unique_ptr<Block>>) {
  std::vector<Type> types;
  for (Value* v : operands) types.push_back(v->type());
  return {Type::tuple(std::move(types))};  // (C1)
}

std::vector<Type> infer_element(std::span<Value* const> operands, const Attrs& attrs,
                                std::span<const std::unique_ptr<Block>>) {
  const char* self = "get_tuple_element";
  if (operands.size() != 1) throw Error(self, "expected 1 operand, got {}", operands.size());
  const Type& tuple = operands[0]->type();
  if (!tuple.is_tuple())
    throw Error(self, "the operand must be a tuple, got {} (I1)", tuple.to_string());
  std::int64_t index = expect_attr<std::int64_t>(self, attrs, "index");
  if (index < 0 || index >= static_cast<std::int64_t>(tuple.elements().size()))
    throw Error(self, "there is no element {} in {} (C1)", index, tuple.to_string());
  return {tuple.elements()[static_cast<std::size_t>(index)]};  // (C2)
}

Literals evaluate(const Op& op, std::span<const Literal>, Evaluator&) {
  STRATA_UNREACHABLE("{} is evaluated where tuples should have been taken apart", op.name());
}

Work cost(const Op&) { return {}; }

OpDef definition(const char* name, const char* summary, decltype(ir::OpInfo::infer) infer,
                 const ir::TextFormat* text, const char* inferred_by) {
  return {
      .info = ir::inferred_by(inferred_by, {.name = name, .infer = std::move(infer), .text = text}),
      .summary = summary,
      .traits = {},
      .evaluate = evaluate,
      .jvp = kGone,
      .linearize = kGone,
      .transpose = kGone,
      .batch = kGone,
      .shard = kGone,
      .cost = cost,
      .lowering = kGone,
  };
}

/// Copies a block, knowing what each tuple was made of.
class Untupling {
 public:
  std::unique_ptr<Block> block(const Block& from) {
    auto to = std::make_unique<Block>();
    for (const auto& a : from.arguments()) {
      refuse(a->type(), "an argument", {});
      map_.set(a.get(), to->add_argument(a->type(), a->hint()));
    }
    Builder b(*to);
    for (const auto& op : from.ops()) one(*op, b);
    for (Value* v : from.results) {
      refuse(v->type(), "a result", {});
      to->results.push_back(map_(v));
    }
    return to;
  }

 private:
  static void refuse(const Type& type, const std::string& what, const ir::Location& where) {
    if (type.is_tuple())
      throw Error("tuple", "{} is {}", what, type.to_string()).at(where.text()).unsupported();
  }

  void one(const Op& op, Builder& b) {
    b.set_location(op.where);
    if (op.name() == "stablehlo.tuple") {
      elements_[op.result()] = op.operands;
      return;
    }
    if (op.name() == "stablehlo.get_tuple_element") return take(op);
    std::vector<std::unique_ptr<Block>> regions;
    for (const auto& r : op.regions) regions.push_back(block(*r));
    std::vector<Type> types;
    for (Value* v : op.operands)
      refuse(v->type(), fmt::format("an operand of {}", op.name()), op.where);
    const bool gives_tuple = op.name() == "stablehlo.custom_call" && op.num_results() == 1 &&
                             op.result()->type().is_tuple();
    if (gives_tuple) types = op.result()->type().elements();
    for (const Type& type : types) refuse(type, fmt::format("a result of {}", op.name()), op.where);
    if (gives_tuple) {  // old programs say several results so
      elements_[op.result()] =
          b.create(op.info(), map_(op.operands), op.attrs, std::move(regions), std::move(types))
              .results();
      return;
    }
    for (Value* v : op.results()) {
      refuse(v->type(), fmt::format("a result of {}", op.name()), op.where);
      types.push_back(v->type());
    }
    Op& made =
        b.create(op.info(), map_(op.operands), op.attrs, std::move(regions), std::move(types));
    for (int r = 0; r < op.num_results(); ++r) map_.set(op.result(r), made.result(r));
  }

  void take(const Op& op) {
    Value* element =
        elements_.at(op.operand(0)).at(static_cast<std::size_t>(op.attr<std::int64_t>("index")));
    if (auto inner = elements_.find(element); inner != elements_.end())
      elements_[op.result()] = Values(inner->second);
    else
      map_.set(op.result(), map_(element));
  }

  ir::ValueMap map_;
  /// Of the old graph, or of the new one where an operation gives a tuple; lookup only.
  std::unordered_map<const Value*, Values> elements_;
};

}  // namespace

bool has_tuples(const Block& block) {
  bool found = false;
  auto look = [&](const Value* v) { found |= v->type().is_tuple(); };
  for (const auto& a : block.arguments()) look(a.get());
  ir::walk(block, [&](const Op& op) {
    for (const Value* v : op.results()) look(v);
  });
  return found;
}

std::unique_ptr<Block> without_tuples(const Block& block) { return Untupling().block(block); }

std::span<const OpDef> tuple_defs() {
  static const OpDef rows[] = {
      definition("stablehlo.get_tuple_element",
                 "one of the values of a tuple (spec: get_tuple_element)", infer_element,
                 &ir::formats::get_tuple_element, "C2"),
      definition("stablehlo.tuple", "several values as one (spec: tuple)", infer_tuple,
                 &ir::formats::tuple, "C1"),
  };
  return rows;
}

}  // namespace strata::op
