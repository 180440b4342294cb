// batch_norm_training, batch_norm_inference, batch_norm_grad: normalisation along all dimensions
// but one, as the specification says it by simpler operations; every rule is theirs.
//
// Contract (StableHLO, batch_norm_*): attributes `feature_index` (C1, in range) and `epsilon`; (C2)
// one dtype, a float; the vectors (scale, offset, mean, variance) have the size of the feature
// dimension ((C3-C6); of batch_norm_grad (C4), (C5)); grad_output of batch_norm_grad has the
// operand's shape (C3). Results: the operand's type ((C7) of training and inference), and for
// training and gradients two vectors.
#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/decomposed.h"
#include "strata/op/legalize.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

// ---- inference ---------------------------------------------------------------------------------

std::int64_t feature_of(const Attrs& attrs) {
  return expect_attr<std::int64_t>("batch_norm", attrs, "feature_index");
}
double epsilon_of(const Op& op) { return op.attr<double>("epsilon"); }

/// One operand beside the first: what it is called, the constraint on its size, and whether it has
/// the operand's shape.
struct Named {
  const char *name, *constraint;
  bool whole = false;
};

void expect(const char* self, std::span<Value* const> operands, const Attrs& attrs,
            std::span<const Named> rest) {
  expect_operands(self, operands, static_cast<int>(rest.size()) + 1);
  const Type& x = operands[0]->type();
  if (!is_float(x.expressed().dtype()))
    throw Error(self, "takes floats, got {} (I1)", x.to_string());
  std::int64_t feature = expect_attr<std::int64_t>(self, attrs, "feature_index");
  expect_attr<double>(self, attrs, "epsilon");
  if (feature < 0 || feature >= x.rank())
    throw Error(self, "feature_index {} is out of range for {} (C1)", feature, x.to_string());
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const Type& type = operands[i + 1]->type();
    if (type.expressed().dtype() != x.expressed().dtype())
      throw Error(self, "{} must have the operand's dtype, got {} and {} (C2)", rest[i].name,
                  type.to_string(), x.to_string());
    if (rest[i].whole && !may_equal(type.shape(), x.shape()))
      throw Error(self, "{} must have the operand's shape, got {} and {} ({})", rest[i].name,
                  type.to_string(), x.to_string(), rest[i].constraint);
    if (!rest[i].whole &&
        (type.rank() != 1 ||
         !may_equal(type.shape().dim(0), x.shape().dim(static_cast<int>(feature)))))
      throw Error(self, "{} must have the size of dimension {} of {}, got {} ({})", rest[i].name,
                  feature, x.to_string(), type.to_string(), rest[i].constraint);
  }
}

Type vector_type(std::span<Value* const> operands, const Attrs& attrs) {
  const Type& x = operands[0]->type();
  return Type(x.dtype(),
              Shape(std::vector<Dim>{merged(x.shape().dim(static_cast<int>(feature_of(attrs))),
                                            operands[1]->shape().dim(0))}));
}

using Regions = std::span<const std::unique_ptr<Block>>;

std::vector<Type> infer_training(std::span<Value* const> operands, const Attrs& attrs, Regions) {
  constexpr Named kRest[] = {{"scale", "C3"}, {"offset", "C4"}};
  expect("batch_norm_training", operands, attrs, kRest);
  return {operands[0]->type(), vector_type(operands, attrs), vector_type(operands, attrs)};
}
std::vector<Type> infer_inference(std::span<Value* const> operands, const Attrs& attrs, Regions) {
  constexpr Named kRest[] = {{"scale", "C3"}, {"offset", "C4"}, {"mean", "C5"}, {"variance", "C6"}};
  expect("batch_norm_inference", operands, attrs, kRest);
  return {operands[0]->type()};
}
std::vector<Type> infer_grad(std::span<Value* const> operands, const Attrs& attrs, Regions) {
  constexpr Named kRest[] = {
      {"scale", "C5"}, {"mean", "C4"}, {"variance", "C4"}, {"grad_output", "C3", true}};
  expect("batch_norm_grad", operands, attrs, kRest);
  return {operands[0]->type(), vector_type(operands, attrs), vector_type(operands, attrs)};
}

// ---- definition --------------------------------------------------------------------------------

/// Arrays beside the operand, and the reductions that make vectors of arrays.
class Normalisation {
 public:
  Normalisation(Builder& b, const Op& op, Value* x)
      : b_(b), x_(x), feature_(feature_of(op.attrs)), epsilon_(epsilon_of(op)) {
    for (std::int64_t d = 0; d < x->rank(); ++d)
      if (d != feature_) others_.push_back(d);
  }
  Value* spread(Value* vector) const {
    return broadcast_in_dim(b_, vector, x_->shape(), {feature_});
  }
  Value* sum(Value* array) const {
    return reduce(b_, array, zeros(b_, Type::scalar(array->dtype())), others_, Combiner::add);
  }
  Value* mean(Value* array) const {
    Value* total = sum(array);
    return div(b_, total, full_like(b_, total, per_feature()));
  }
  Value* per_feature_like(Value* array) const { return full_like(b_, array, per_feature()); }
  Value* centered(Value* mean) const { return sub(b_, x_, spread(mean)); }
  /// variance + epsilon, spread.
  Value* shifted_variance(Value* variance) const {
    Value* v = spread(variance);
    return add(b_, v, full_like(b_, v, epsilon_));
  }
  Value* normalized(Value* scale, Value* offset, Value* mean, Value* variance) const {
    Value* unit = div(b_, centered(mean), sqrt(b_, shifted_variance(variance)));
    return add(b_, mul(b_, spread(scale), unit), spread(offset));
  }

 private:
  double per_feature() const {
    double n = 1;
    for (std::int64_t d : others_) n *= static_cast<double>(x_->shape()[static_cast<int>(d)]);
    return n;
  }
  Builder& b_;
  Value* x_;
  std::int64_t feature_;
  double epsilon_;
  Ints others_;
};

Values decompose_training(Builder& b, const Op& op, std::span<Value* const> operands) {
  Normalisation n(b, op, operands[0]);
  Value* mean = n.mean(operands[0]);
  Value* centered = n.centered(mean);
  Value* variance = n.mean(mul(b, centered, centered));
  return {n.normalized(operands[1], operands[2], mean, variance), mean, variance};
}

Values decompose_inference(Builder& b, const Op& op, std::span<Value* const> operands) {
  return {Normalisation(b, op, operands[0])
              .normalized(operands[1], operands[2], operands[3], operands[4])};
}

Values decompose_grad(Builder& b, const Op& op, std::span<Value* const> operands) {
  Value *scale = operands[1], *mean = operands[2], *variance = operands[3], *ct = operands[4];
  Normalisation n(b, op, operands[0]);
  Value *centered = n.centered(mean), *shifted = n.shifted_variance(variance),
        *deviation = sqrt(b, shifted);
  Value* count = n.per_feature_like(ct);
  Value* i1 = mul(b, ct, count);
  Value* i2 = n.spread(n.sum(ct));
  Value* i3 = n.spread(n.sum(mul(b, ct, centered)));
  Value* i5 = div(b, mul(b, i3, centered), shifted);
  Value* i6 = sub(b, sub(b, i1, i2), i5);
  Value* of_operand = mul(b, div(b, div(b, n.spread(scale), deviation), count), i6);
  return {of_operand, n.sum(mul(b, ct, div(b, centered, deviation))), n.sum(ct)};
}

// ---- sharding, cost ----------------------------------------------------------------------------

/// Features pass through; the statistics need the rest whole, unless they are given.
template <bool statistics>
Factors shard(const Op& op) {
  FactorTable t(op);
  int rank = op.operand(0)->rank();
  auto feature = static_cast<int>(feature_of(op.attrs));
  for (int d = 0; d < rank; ++d) {
    int f =
        t.factor(d == feature || !statistics ? 'p' : 'n', op.operand(0)->shape().dim(d).bound());
    auto set = [&](const Value* v, auto&& place) {
      if (v->rank() == rank && (rank != 1 || d == feature)) place(d);
      if (v->rank() == 1 && rank != 1 && d == feature) place(0);
    };
    for (int i = 0; i < static_cast<int>(op.operands.size()); ++i)
      set(op.operand(i), [&](int at) { t.operand(i, at, f); });
    for (int i = 0; i < op.num_results(); ++i)
      set(op.result(i), [&](int at) { t.result(i, at, f); });
  }
  return t.take();
}

Work cost(const Op& op) { return {8 * elements(op), bytes_moved(op)}; }

OpDef row(const char* name, const char* summary, const char* inferred_by,
          std::vector<Type> (*infer)(std::span<Value* const>, const Attrs&, Regions),
          Decompose decompose, Shard shard) {
  return {
      .info = ir::inferred_by(inferred_by,
                              {.name = name,
                               .infer = infer,
                               .text = &ir::formats::batch_norm,
                               .quantized = quantized::baseline},
                              "C2"),
      .summary = summary,
      .traits = {.takes_complex = true},  // narrow floats round as the simpler operations do
      .evaluate = evaluate_decomposed,
      .jvp = jvp_decomposed,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = None{"not linear; its derivative is said by simpler operations"},
      .batch = batch_decomposed,
      .shard = shard,
      .cost = cost,
      .lowering = None{"said by simpler operations (decompose)"},
      .decompose = decompose,
  };
}

}  // namespace

std::span<const OpDef> batch_norm_defs() {
  static const OpDef rows[] = {
      row("stablehlo.batch_norm_grad",
          "gradients of a batch normalisation (StableHLO, batch_norm_grad)", "C2, C3, C4",
          infer_grad, decompose_grad, shard<true>),
      row("stablehlo.batch_norm_inference",
          "normalisation by given mean and variance (StableHLO, batch_norm_inference)", "C7",
          infer_inference, decompose_inference, shard<false>),
      row("stablehlo.batch_norm_training",
          "normalisation by mean and variance of the operand (StableHLO, batch_norm_training)",
          "C2, C5, C6, C7", infer_training, decompose_training, shard<true>),
  };
  return rows;
}

}  // namespace strata::op
