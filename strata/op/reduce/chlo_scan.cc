// chlo.scan: a loop along a dimension of arrays that carries values and stacks results.
//
// Operands [inputs..., inits...]; attributes `dimension`, `num_carries`, `is_reverse`,
// `is_associative` (a licence to regroup, which is not used), `scan_dim_size`. The body maps
// (elements of inputs..., carries...) to (elements of outputs..., carries...), where an element is
// an array without the scanned dimension; results [outputs..., last carries...].
//   (C1) dimension is in range of every input; (C2) inputs have one size there, which is
//   `scan_dim_size` where that is given; without inputs it must be; (C3) the body has an argument
//   for each operand: of its type, without the scanned dimension for inputs; (C4) the body returns
//   its carries' types last; (C5) at most as many carries as results.
// It stands for strata.scan with the scanned dimension in front.
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/calculus/closed.h"
#include "strata/op/calculus/support.h"
#include "strata/op/control.h"
#include "strata/op/decomposed.h"
#include "strata/op/legalize.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

struct Numbers {
  explicit Numbers(const Attrs& attrs)
      : dimension(static_cast<int>(expect_attr<std::int64_t>("scan", attrs, "dimension"))),
        carries(static_cast<std::size_t>(attrs.get_or<std::int64_t>("num_carries", 0))),
        reverse(attrs.get_or<bool>("is_reverse", false)) {}
  int dimension;
  std::size_t carries;
  bool reverse;
};

Type without(const Type& type, int dimension) {
  std::vector<Dim> dims = type.shape().dims();
  dims.erase(dims.begin() + dimension);
  return type.with(Shape(dims));
}
Type with(const Type& type, int dimension, const Dim& size) {
  std::vector<Dim> dims = type.shape().dims();
  if (dimension > static_cast<int>(dims.size()))
    throw Error("scan", "an output {} has no place for dimension {} (C1)", type.to_string(),
                dimension);
  dims.insert(dims.begin() + dimension, size);
  return type.with(Shape(dims));
}

Dim scanned(std::span<Value* const> inputs, const Attrs& attrs, int dimension) {
  std::int64_t stated = attrs.get_or<std::int64_t>("scan_dim_size", 0);
  if (stated < 0) throw Error("scan", "scan_dim_size is negative: {} (C2)", stated);
  Dim size(stated);
  bool known = attrs.find("scan_dim_size") != nullptr;
  if (inputs.empty() && !known)
    throw Error("scan", "without inputs, scan_dim_size says how far it goes (C2)");
  for (Value* v : inputs) {
    if (!v->type().is_tensor() || dimension < 0 || dimension >= v->rank())
      throw Error("scan", "dimension {} is out of range for {} (C1)", dimension,
                  v->type().to_string());
    const Dim& mine = v->shape().dim(dimension);
    if (known && !may_equal(mine, size))
      throw Error("scan", "{} has not the size {} along dimension {} (C2)", v->type().to_string(),
                  size.bound(), dimension);
    size = known ? merged(mine, size) : mine;
    known = true;
  }
  return size;
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>> regions) {
  Numbers s(attrs);
  if (regions.size() != 1) throw Error("scan", "expected one region, got {}", regions.size());
  const Block& body = *regions[0];
  if (s.carries > operands.size() || s.carries > body.results.size())
    throw Error("scan", "{} carries for {} operands and {} results (C5)", s.carries,
                operands.size(), body.results.size());
  std::size_t inputs = operands.size() - s.carries, outputs = body.results.size() - s.carries;
  Dim size = scanned(operands.subspan(0, inputs), attrs, s.dimension);
  if (body.arguments().size() != operands.size())
    throw Error("scan", "the body takes {} arguments for {} operands (C3)", body.num_arguments(),
                operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Type expected = i < inputs ? without(operands[i]->type(), s.dimension) : operands[i]->type();
    const Type& given = body.argument(static_cast<int>(i))->type();
    if (given != expected)
      throw Error("scan", "argument {} of the body is {}, expected {} (C3)", i, given.to_string(),
                  expected.to_string());
  }
  std::vector<Type> results;
  for (std::size_t i = 0; i < body.results.size(); ++i) {
    const Type& type = body.results[i]->type();
    if (i >= outputs && type != operands[inputs + i - outputs]->type())
      throw Error("scan", "carry {} enters the body as {} and leaves it as {} (C4)", i - outputs,
                  operands[inputs + i - outputs]->type().to_string(), type.to_string());
    results.push_back(i < outputs ? with(type, s.dimension, size) : type);
  }
  return results;
}

/// Inputs are what the body takes without a dimension. (In closed form, what it captures stands
/// behind the inits.)
std::size_t inputs_of(const Op& op) {
  std::size_t n = 0;
  while (n < op.operands.size() &&
         op.operands[n]->type() != op.region(0).argument(static_cast<int>(n))->type())
    ++n;
  return n;
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  Numbers s(op.attrs);
  std::size_t inputs = inputs_of(op), own = inputs + s.carries,
              outputs = static_cast<std::size_t>(op.num_results()) - s.carries;
  std::int64_t length = scanned(operands.subspan(0, inputs), op.attrs, s.dimension).size();
  OpenRegion body(op.region(0), static_cast<int>(own), operands.subspan(own));
  Values all(operands.begin(), operands.end()), consts = body.captured(),
                                                carries = part(all, inputs, s.carries), xs;
  for (std::size_t i = 0; i < inputs; ++i) xs.push_back(move_dim(b, operands[i], s.dimension, 0));

  auto step = std::make_unique<Block>();  // (captured..., carries..., elements...) -> (carries...,
                                          // outputs...)
  Values captured, state, elements;
  for (Value* v : consts) captured.push_back(step->add_argument(v->type()));
  for (Value* v : carries) state.push_back(step->add_argument(v->type()));
  for (Value* v : xs) elements.push_back(step->add_argument(without(v->type(), 0)));
  Builder sb(*step);
  Values results = body.inlined(sb, joined(elements, state), captured);
  step->results = joined(part(results, outputs, s.carries), part(results, 0, outputs));
  Values out = scan(b, std::move(step), consts, carries, xs, {length, s.reverse}),
         stacked = part(out, s.carries, outputs);
  for (Value*& y : stacked) y = move_dim(b, y, 0, s.dimension);
  return joined(stacked, part(out, 0, s.carries));
}

Work cost(const Op& op) {
  Work w = cost_of(op.region(0));
  double n =
      static_cast<double>(scanned(std::span<Value* const>(op.operands).subspan(0, inputs_of(op)),
                                  op.attrs, Numbers(op.attrs).dimension)
                              .bound());
  return {w.flops * n, w.bytes * n};
}

}  // namespace

const OpDef& chlo_scan_def() {
  static const OpDef d{
      .info = {.name = "chlo.scan", .infer = infer, .text = &ir::formats::chlo_scan},
      .summary = "a loop along a dimension with carries and stacked results (CHLO, scan)",
      .traits = {},
      .evaluate = evaluate_decomposed,
      .jvp = jvp_decomposed,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = transpose_decomposed,
      .batch = batch_decomposed,
      .shard = None{"sharding passes along the edges of the body, not through factors"},
      .cost = cost,
      .lowering = None{"it is decomposed"},
      .decompose = decompose,
  };
  return d;
}

}  // namespace strata::op
