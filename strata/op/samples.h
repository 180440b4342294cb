// Sample inputs of operations, from which one test derives all laws (law_test.cc).
//
// Each operation registers its samples in a *_test.cc beside it; the laws then hold for it or the
// test fails, and an operation without samples fails too:
//
//   const bool registered = add_samples("stablehlo.slice", [](std::vector<Sample>& out) {
//     out.push_back({.what = "strided", .operands = {random_literal(Type(DType::f32, {7}), 1)},
//                    .attrs = {{"start_indices", Ints{1}}, {"limit_indices", Ints{6}}, {"strides",
//                    Ints{2}}}});
//   });
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "strata/op/def.h"

namespace strata::op {

struct World;  // op/collective/world.h

/// One call of an operation.
struct Sample {
  /// What is peculiar about it, for messages: "negative padding".
  std::string what;
  Literals operands;
  Attrs attrs = {};
  /// Only for operations whose result types are stated, not inferred.
  std::vector<Type> results = {};
  /// Makes the regions, for operations that have some.
  std::function<std::vector<std::unique_ptr<Block>>()> regions = nullptr;
  /// Whether the operation is differentiable around these operands (no kinks, poles, infinities) or
  /// at least constant; derivative laws are checked only then.
  bool smooth = true;
  /// Whether it may be batched over any of its operands.
  bool batchable = true;
  /// What stands ready on the host's side, for operations that ask for it.
  std::function<void(World&)> world = nullptr;
};

using MakeSamples = std::function<void(std::vector<Sample>&)>;
/// Registers; returns true, so that it can initialise a constant. Several makers for one operation
/// add up.
bool add_samples(const std::string& name, MakeSamples make);
/// All samples registered for the operation, made anew by each call; and some of them said in the
/// types that kernels do not know (op/legalize.h), where the operation admits those: f32 as complex
/// numbers and as floats below 16 bits, i32 and ui32 as i4, i2, ui4 and ui2.
std::vector<Sample> samples_of(const std::string& name);
/// Only those registered, whose types kernels know.
std::vector<Sample> registered_samples_of(const std::string& name);

/// Appends the operation of a sample to `b`, on `operands` of the sample's types.
Op& build_sample(Builder& b, const OpDef& def, const Sample& sample, const Values& operands);

// ---- random inputs: equal seeds give equal bits ------------------------------------------------
/// Floats uniform in [low, high); integers too, rounded down; booleans fair.
Literal random_literal(const Type& type, std::uint64_t seed, double low = -2, double high = 2);
/// Complex numbers as real ones with one more dimension, of the two parts: the same bytes. Other
/// arrays: themselves.
Literal real_view(const Literal& x);
/// Zeros of both signs, ones, extremes, infinities, NaN, subnormals; for integers 0, 1, -1, MIN,
/// MAX and a few more.
Literal edge_literal(DType dtype);
/// Two lists that together contain every pair of edge values.
std::pair<Literal, Literal> edge_pairs(DType dtype);

}  // namespace strata::op
