#include "strata/op/shape/refine.h"

#include <algorithm>
#include <type_traits>
#include <unordered_map>

#include "strata/base/error.h"
#include "strata/ir/verify.h"
#include "strata/op/build.h"
#include "strata/op/legalize.h"
#include "strata/op/lowered.h"
#include "strata/op/rules.h"
#include "strata/op/shape/refine_rules.h"

namespace strata::op {
namespace {

constexpr std::int64_t kMostFolded = 256;  // elements of an integer array that may be a shape

}  // namespace

bool may_be_shape(const Type& type) {
  return type.is_tensor() && (is_integer(type.dtype()) || is_bool(type.dtype())) &&
         type.shape().is_static() && type.shape().count() <= kMostFolded;
}

namespace {

class Refiner {
 public:
  /// `always`: operations that are said by others become those, even where their shapes are static
  /// already.
  explicit Refiner(bool always = false) : always_(always) {}
  std::unique_ptr<Block> program(const Block& from, const std::vector<Known>& arguments) {
    auto to = std::make_unique<Block>();
    for (int i = 0; i < from.num_arguments(); ++i) {
      const Known& k = arguments[static_cast<std::size_t>(i)];
      Value* v = to->add_argument(k.type, from.argument(i)->hint());
      map_.set(from.argument(i), v);
      if (k.value && may_be_shape(k.type)) known_.emplace(v, *k.value);
    }
    Builder b(*to);
    operations(from, b);
    to->results = map_(from.results);
    return to;
  }
  Values one(const Op& op, Builder& b) {
    b.set_location(op.where);
    return refined(op, map_(op.operands), b);
  }

 private:
  void operations(const Block& from, Builder& b) {
    for (const auto& op : from.ops()) {
      Values results = one(*op, b);
      STRATA_CHECK(static_cast<int>(results.size()) == op->num_results(), "{} became {} values",
                   op->name(), results.size());
      for (int r = 0; r < op->num_results(); ++r)
        map_.set(op->result(r), results[static_cast<std::size_t>(r)]);
    }
  }

  const Literal* known(const Value* v) const {
    auto it = known_.find(v);
    return it == known_.end() ? nullptr : &it->second;
  }

  Values refined(const Op& op, const Values& operands, Builder& b) {
    const OpDef& d = def(op);
    if (d.holds && holds(op, d, operands)) return {};
    if (Refine refine = refine_of(op))
      if (std::optional<Values> results = by_shapes(op, refine, operands, b)) return *results;
    bool by_parts = d.decompose && std::holds_alternative<None>(d.lowering);
    bool dynamic = is_dynamic(op);
    bool informed = std::any_of(operands.begin(), operands.end(),
                                [&](Value* v) { return known(v) != nullptr; });
    if (by_parts && (dynamic || informed || always_)) return decomposed(op, d, operands, b);
    Op& made = dynamic ? inferred(op, d, operands, b) : copied(op, operands, b);
    Values results = made.results();
    fold(made);
    return results;
  }

  bool holds(const Op& op, const OpDef& d, const Values& operands) const {
    std::vector<const Literal*> literals;
    for (const Value* v : operands) literals.push_back(known(v));
    return placed(op, [&] { return d.holds(op, literals); });
  }

  /// The value as far as it is known: a constant, or the sum of a value and a constant.
  Value* told(Value* v, Builder& b) const {
    if (known(v)) return constant(b, *known(v));
    const Op* sum = v->op();
    if (sum == nullptr || sum->name() != "stablehlo.add") return v;
    for (int i : {0, 1})
      if (const Literal* step = known(sum->operand(i)))
        return add(b, sum->operand(1 - i), constant(b, *step));
    return v;
  }
  Values told(const Values& values, Builder& b) const {
    Values out;
    for (Value* v : values) out.push_back(told(v, b));
    return out;
  }

  /// What is known stands before the decomposition as constants.
  Values decomposed(const Op& op, const OpDef& d, const Values& operands, Builder& b) {
    Values informed = told(operands, b);
    std::size_t first = b.block().ops().size();
    return learned(op, placed(op, [&] { return d.decompose(b, op, informed); }), first, b);
  }

  std::optional<Values> by_shapes(const Op& op, Refine refine, const Values& operands, Builder& b) {
    Values informed = told(operands, b);
    std::size_t first = b.block().ops().size();
    std::optional<Values> results = placed(op, [&] { return refine(b, op, informed); });
    return results ? std::optional(learned(op, *results, first, b)) : std::nullopt;
  }

  /// Folds what was appended to the block from its operation `first` on, and gives on its results.
  Values learned(const Op& op, const Values& results, std::size_t first, Builder& b) {
    for (std::size_t i = first; i < b.block().ops().size(); ++i) fold(*b.block().ops()[i]);
    for (Value* v : results)
      if (is_dynamic(v->type())) unknown(op, v->type());
    return results;
  }

  /// Mistakes that show in a decomposition are the operation's.
  template <class F>
  static std::invoke_result_t<F> placed(const Op& op, F&& make) {
    try {
      return make();
    } catch (Error& e) {
      throw e.at(op.where.text());
    }
  }

  Op& copied(const Op& op, const Values& operands, Builder& b) {
    std::vector<std::unique_ptr<Block>> regions;
    for (const auto& r : op.regions) regions.push_back(region(*r, operands));
    std::vector<Type> types;
    for (Value* v : op.results()) types.push_back(v->type());
    return b.create(op.info(), operands, op.attrs, std::move(regions), std::move(types));
  }

  /// Types are inferred where there is a rule; a program's choice of dtype stays. Where there is
  /// none, a dimension without a size has that of operand 0.
  Op& inferred(const Op& op, const OpDef& d, const Values& operands, Builder& b) {
    std::vector<std::unique_ptr<Block>> regions;
    for (const auto& r : op.regions) regions.push_back(region(*r, operands));
    std::vector<Type> types;
    if (d.info.infer) types = d.info.infer(operands, op.attrs, regions);
    for (int r = 0; r < op.num_results(); ++r) {
      const Type& stated = op.result(r)->type();
      if (!d.info.infer) types.push_back(stated);
      Type& type = types[static_cast<std::size_t>(r)];
      if (!stated.is_tensor() || !type.is_tensor()) continue;
      type = stated.with(
          resolved(op, stated, d.info.infer ? type.shape() : like(stated.shape(), operands)));
      if (is_dynamic(type)) unknown(op, type);
    }
    Op& made = b.create(op.info(), operands, op.attrs, std::move(regions), std::move(types));
    if (d.info.verify) d.info.verify(made);
    return made;
  }
  static Shape resolved(const Op& op, const Type& stated, const Shape& found) {
    if (!may_equal(stated.shape(), found))
      throw Error(std::string(short_name(op.name())),
                  "the result is stated to be {}, but is {} here", stated.to_string(),
                  stated.with(found).to_string())
          .at(op.where.text());
    return merged(found, stated.shape());
  }
  static Shape like(const Shape& stated, const Values& operands) {
    std::vector<Dim> dims = stated.dims();
    for (int i = 0; i < stated.rank(); ++i)
      if (!stated.dim(i).is_static() && !operands.empty() && operands[0]->type().is_tensor() &&
          i < operands[0]->rank())
        dims[static_cast<std::size_t>(i)] = operands[0]->shape().dim(i);
    return Shape(std::move(dims));
  }
  [[noreturn]] static void unknown(const Op& op, const Type& type) {
    throw Error(std::string(short_name(op.name())),
                "the shape of {} depends on values that are not known before the program runs",
                type.to_string())
        .at(op.where.text())
        .unsupported();
  }

  /// Arguments that stand for operands have their types.
  std::unique_ptr<Block> region(const Block& from, const Values& operands) {
    auto to = std::make_unique<Block>();
    bool paired = from.num_arguments() == static_cast<int>(operands.size());
    for (int i = 0; i < from.num_arguments(); ++i) {
      const Type& stated = from.argument(i)->type();
      bool same = paired && is_dynamic(stated) &&
                  ir::may_be_same(stated, operands[static_cast<std::size_t>(i)]->type());
      map_.set(from.argument(i),
               to->add_argument(same ? operands[static_cast<std::size_t>(i)]->type() : stated,
                                from.argument(i)->hint()));
    }
    Builder b(*to);
    operations(from, b);
    to->results = map_(from.results);
    return to;
  }

  /// Computes small integers of which all operands are known, as compiled code would: by the
  /// operation's lowering. No evaluator takes part in compiling.
  void fold(Op& op) {
    if (op.info().has_effect || !op.regions.empty() || op.num_results() == 0 ||
        needs_legalizing(op))
      return;
    for (Value* v : op.results())
      if (!may_be_shape(v->type())) return;
    Literals given;
    for (Value* v : op.operands) {
      const Literal* literal = known(v);
      if (!literal) return;
      given.push_back(*literal);
    }
    const ir::Attr* value = op.operands.empty() ? op.attrs.find("value") : nullptr;
    const Literal* constant = value ? std::get_if<Literal>(value) : nullptr;
    if (!constant && !runs_alone(op)) return;
    Literals results = constant ? Literals{*constant} : lowered(op, given);
    for (int r = 0; r < op.num_results(); ++r)
      known_.insert_or_assign(op.result(r), results[static_cast<std::size_t>(r)]);
  }

  bool always_;
  ir::ValueMap map_;
  std::unordered_map<const Value*, Literal> known_;  // lookup only
};

}  // namespace

bool is_dynamic(const Type& type) {
  if (type.is_tuple())
    return std::any_of(type.elements().begin(), type.elements().end(),
                       [](const Type& t) { return is_dynamic(t); });
  return !type.is_token() && !type.shape().is_static();
}

bool is_dynamic(const Block& block) {
  for (const auto& a : block.arguments())
    if (is_dynamic(a->type())) return true;
  for (const auto& op : block.ops())
    if (is_dynamic(*op)) return true;
  return false;
}

bool is_dynamic(const Op& op) {
  for (const Value* v : op.operands)
    if (is_dynamic(v->type())) return true;
  for (const Value* v : op.results())
    if (is_dynamic(v->type())) return true;
  for (const auto& r : op.regions)
    if (is_dynamic(*r)) return true;
  return false;
}

bool needs_values(const Op& op) {
  if (Needs needs = needs_of(op))
    for (int i : needs(op))
      if (!known_integers(op.operand(i))) return true;
  return std::any_of(op.regions.begin(), op.regions.end(),
                     [](const auto& r) { return needs_values(*r); });
}

bool needs_values(const Block& block) {
  return std::any_of(block.ops().begin(), block.ops().end(),
                     [](const auto& op) { return needs_values(*op); });
}

std::unique_ptr<Block> refine(const Block& block, const std::vector<Known>& arguments) {
  if (static_cast<int>(arguments.size()) != block.num_arguments())
    throw Error("refine", "expected {} arguments, got {}", block.num_arguments(), arguments.size());
  for (int i = 0; i < block.num_arguments(); ++i) {
    const Type &stated = block.argument(i)->type(),
               &given = arguments[static_cast<std::size_t>(i)].type;
    if (!ir::may_be_same(stated, given))
      throw Error("refine", "argument {} is {}, but {} is given", i, stated.to_string(),
                  given.to_string());
    if (is_dynamic(given))
      throw Error("refine", "argument {} is given without sizes: {}", i, given.to_string());
  }
  return Refiner().program(block, arguments);
}

Literals evaluate_refined(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  // The operation alone, on arguments with the operands' types; values that its regions capture
  // stay as they are.
  Block alone;
  ir::ValueMap map;
  Values arguments;
  std::vector<Known> known;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    arguments.push_back(alone.add_argument(op.operands[i]->type()));
    map.set(op.operands[i], arguments.back());
    known.push_back({operands[i].type(), operands[i]});
  }
  Builder b(alone);
  b.set_location(op.where);
  Op& copy = ir::clone(b, op, map);
  for (std::size_t i = 0; i < arguments.size(); ++i) copy.operands[i] = arguments[i];
  alone.results = copy.results();
  return evaluator.run(*Refiner(true).program(alone, known), operands);
}

std::optional<Ints> known_integers(const Value* v) {
  if (!v->op() || !v->op()->operands.empty()) return std::nullopt;
  const ir::Attr* value = v->op()->attrs.find("value");
  const Literal* literal = value ? std::get_if<Literal>(value) : nullptr;
  if (!literal || !is_integer(literal->dtype())) return std::nullopt;
  Ints out;
  for (std::int64_t i = 0; i < literal->count(); ++i) out.push_back(literal->integer(i));
  return out;
}

Ints expect_known(std::string_view op, const char* what, const Value* v) {
  if (std::optional<Ints> found = known_integers(v)) return *found;
  throw Error(std::string(op), "{} depends on values that are not known before the program runs",
              what)
      .unsupported();
}

Shape refined_shape(const Op& op, const Value* sizes) {
  const Shape& stated = op.result()->shape();
  if (stated.is_static()) return stated;
  std::string_view self = short_name(op.name());
  Ints found = expect_known(self, "the result's shape", sizes);
  for (std::size_t d = 0; d < found.size(); ++d) {
    if (found[d] < 0) throw Error(std::string(self), "the size of dimension {} is {}", d, found[d]);
    if (!may_equal(stated.dim(static_cast<int>(d)), Dim(found[d])))
      throw Error(std::string(self), "dimension {} has the size {}, but the result is {}", d,
                  found[d], op.result()->type().to_string());
  }
  return Shape::of(found);
}

}  // namespace strata::op
