// Norms: what holds for any input, state through transforms, and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/api/numpy/linalg.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/norm/batch_norm.h"
#include "strata/nn/norm/group_norm.h"
#include "strata/nn/norm/instance_norm.h"
#include "strata/nn/norm/layer_norm.h"
#include "strata/nn/norm/norm.h"
#include "strata/nn/norm/spectral_norm.h"
#include "strata/nn/norm/weight_norm.h"
#include "strata/nn/state.h"
#include "strata/nn/transform/grad.h"
#include "strata/nn/transform/jit.h"
#include "strata/nn/transform/vmap.h"

namespace strata::nn {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class NormsTest : public testing::Test {
 protected:
  NormsTest() { compile::register_cpu(); }
  static Array normals(int seed, const Sizes& shape, DType dtype = DType::f32) {
    return random::normal(random::key(seed), shape, dtype);
  }
  static double farthest(const Array& a, const Array& b) {
    return numpy::max(numpy::abs(a - b)).item<double>();
  }
  template <class F>
  static std::string error_of(F f) {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }
  /// A weight of three axes, where one of one was asked for.
  static Array cube(const random::Key&, const Sizes&, DType dtype) {
    return numpy::ones({2, 2, 2}, dtype);
  }
  Rngs rngs{0};
};

TEST_F(NormsTest, InstanceGroupAndLayerNormAgreeWhereTheirAxesDo) {
  const Array x = normals(1, {2, 3, 4, 5});
  const Array by_instance = InstanceNorm(5, rngs)(x);
  EXPECT_LT(farthest(by_instance, LayerNorm(5, rngs, {.reduction_axes = {1, 2}})(x)), 1e-6);
  EXPECT_LT(farthest(by_instance, GroupNorm(5, rngs, {.num_groups = 5})(x)), 1e-6);
  EXPECT_LT(farthest(by_instance, GroupNorm(5, rngs, {.group_size = 1})(x)), 1e-6);
}

TEST_F(NormsTest, GroupsMayHaveSeveralAxesBeforeThem) {
  // Moments of each position's groups: as those of a batch of positions.
  const Array x = normals(1, {2, 3, 6});
  const GroupNorm norm(6, rngs, {.num_groups = 2, .reduction_axes = Axes(-1)});
  const Array flat = GroupNorm(6, rngs, {.num_groups = 2})(x.reshape({6, 6}));
  EXPECT_LT(farthest(norm(x), flat.reshape({2, 3, 6})), 1e-6);
}

TEST_F(NormsTest, WhatAMaskHidesHasNoPart) {
  const Array x = normals(1, {2, 4, 6});
  const Array mask = array({{{true}, {true}, {true}, {false}}});
  const Array other = numpy::where(mask, x, 1000.0f);
  const auto seen = [&](const Array& y) { return y[{slice(), slice(3)}]; };
  const GroupNorm group(6, rngs, {.num_groups = 2});
  const InstanceNorm instance(6, rngs);
  EXPECT_EQ(farthest(seen(group(x, {.mask = mask})), seen(group(other, {.mask = mask}))), 0);
  EXPECT_EQ(farthest(seen(instance(x, {.mask = mask})), seen(instance(other, {.mask = mask}))), 0);
  BatchNorm first(6, rngs), second = first;
  const Array a = first(x, {.mask = mask}), b = second(other, {.mask = mask});
  EXPECT_EQ(farthest(seen(a), seen(b)), 0);
  EXPECT_TRUE(tree::equal(tree::of(first), tree::of(second)));
}

TEST_F(NormsTest, MeansOverAnAxisOfVmapAreThoseOfTheWholeBatch) {
  const Array x = normals(1, {8, 3, 5});
  BatchNorm whole(5, rngs);
  BatchNorm parts = whole;
  parts.statistics.axis_name = {"batch"};
  const Array want = whole(x);
  const Array got = nn::vmap([](BatchNorm& norm, const Array& part) { return norm(part); },
                             {.in_axes = {none, 0}, .axis_name = "batch"})(parts, x);
  EXPECT_LT(farthest(got, want), 1e-6);
  EXPECT_EQ(parts.mean.shape(), whole.mean.shape());
  EXPECT_LT(farthest(parts.mean, whole.mean), 1e-7);
  EXPECT_LT(farthest(parts.var, whole.var), 1e-6);

  const LayerNorm layer(5, rngs, {.axis_name = "batch", .use_fast_variance = false});
  const Array rows = nn::vmap([&](const Array& part) { return layer(part); },
                              {.in_axes = {1}, .out_axes = {1}, .axis_name = "batch"})(x);
  EXPECT_LT(farthest(rows, LayerNorm(5, rngs, {.reduction_axes = {1, 2}})(x)), 1e-5);
}

TEST_F(NormsTest, AveragesMoveWithoutDerivativeAndUnderJit) {
  const Array x = normals(1, {8, 3});
  BatchNorm eager(3, rngs, {.momentum = 0.5});
  BatchNorm jitted = eager;
  const Array want = eager(x);
  EXPECT_EQ(farthest(eager.mean, 0.5f * numpy::mean(x, 0)), 0);
  const auto step = nn::jit([](BatchNorm& norm, const Array& in) { return norm(in); });
  EXPECT_LT(farthest(step(jitted, x), want), 1e-6);
  EXPECT_LT(farthest(jitted.mean, eager.mean), 1e-7);
  // The loss of the averages alone has no gradient.
  BatchNorm fresh(3, rngs);
  const tree::Tree grads = nn::grad([](BatchNorm& norm, const Array& in) {
    norm(in);
    return numpy::sum(norm.mean + norm.var) + 0.0f * numpy::sum(*norm.scale);
  })(fresh, x);
  EXPECT_EQ(numpy::max(numpy::abs(grads["scale"])).item<float>(), 0);
}

TEST_F(NormsTest, AConstBatchNormUsesItsAverages) {
  BatchNorm norm(3, rngs);
  const Array x = normals(1, {8, 3});
  norm(x);
  const BatchNorm& fixed = norm;
  const tree::Tree before = tree::of(norm);
  EXPECT_EQ(
      farthest(fixed(x, {.use_running_average = true}), norm(x, {.use_running_average = true})), 0);
  EXPECT_TRUE(tree::equal(before, tree::of(norm)));
  EXPECT_THAT(error_of([&] { fixed(x); }), HasSubstr("the layer is const"));
}

TEST_F(NormsTest, WeightsOfLengthOneAreGivenBack) {
  const Linear plain(4, 3, rngs);
  WeightNorm<Linear> norm(plain);
  norm.scales["(kernel)"] = array({2.0f, 3.0f, 4.0f});
  const Array x = normals(1, {2, 4});
  const Array length = numpy::sqrt(numpy::sum(numpy::square(plain.kernel), 0));
  const Array y = norm(x);
  EXPECT_LT(farthest(y, numpy::matmul(x, plain.kernel / length * array({2.0f, 3.0f, 4.0f}))), 1e-5);
  EXPECT_EQ(norm.layer_instance.kernel.state(), plain.kernel.state());
  EXPECT_EQ(farthest(norm(x), y), 0);
  // Lengths are no Param, but can be asked for.
  const auto loss = [](WeightNorm<Linear>& m, const Array& in) { return numpy::sum(m(in)); };
  EXPECT_FALSE(nn::grad(loss)(norm, x).contains("scales/(kernel)"));
  EXPECT_TRUE(
      nn::grad(loss, of<Param>() || tree::path("scales/*"))(norm, x).contains("scales/(kernel)"));
}

TEST_F(NormsTest, OverwrittenWeightsStay) {
  WeightNorm<Linear> norm(Linear(4, 3, rngs), {.overwrite = true});
  norm(normals(1, {2, 4}));
  const Array lengths = numpy::sum(numpy::square(norm.layer_instance.kernel), 0);
  EXPECT_LT(farthest(lengths, numpy::ones({3})), 1e-6);
}

TEST_F(NormsTest, TheSpectralNormIsFound) {
  SpectralNorm<Linear> norm(Linear(6, 5, rngs), rngs);
  const Array x = normals(1, {2, 6});
  const tree::Tree weights = tree::of(norm.layer_instance);
  for (int i = 0; i < 50; ++i) norm(x);
  const Array greatest = numpy::linalg::svdvals(norm.layer_instance.kernel)[0];
  EXPECT_NEAR(norm.batch_stats["(kernel,sigma)"].item<double>(), greatest.item<double>(), 1e-5);
  EXPECT_TRUE(tree::equal(weights, tree::of(norm.layer_instance)));
  const tree::Tree before = tree::of(norm);
  norm(x, {.update_stats = false});
  EXPECT_TRUE(tree::equal(before, tree::of(norm)));
}

TEST_F(NormsTest, StateOfTheLayerInsideIsKept) {
  WeightNorm<BatchNorm> norm(BatchNorm(3, rngs), {.variable_filter = tree::path_contains("scale")});
  norm(normals(1, {4, 3}));
  EXPECT_GT(farthest(norm.layer_instance.mean, numpy::zeros({3})), 0);
  EXPECT_EQ(farthest(*norm.layer_instance.scale, numpy::ones({3})), 0);
}

/// Says where it is called.
struct Probe {
  Param kernel = numpy::ones({2, 2});
  STRATA_FIELDS(kernel)
  Array operator()(const Array& x) {
    const ModuleScope scope(*this, "Probe");
    where = module_context();
    return numpy::matmul(x, kernel);
  }
  static inline std::string where;
};

TEST_F(NormsTest, TheLayerInsideHasItsPath) {
  WeightNorm<Probe> by_length{Probe()};
  by_length(numpy::ones({1, 2}));
  EXPECT_EQ(Probe::where, "layer_instance (Probe)");
  SpectralNorm<Probe> spectral(Probe(), rngs);
  Probe::where.clear();
  spectral(numpy::ones({1, 2}));
  EXPECT_EQ(Probe::where, "layer_instance (Probe)");
}

TEST_F(NormsTest, WeightsComeBackWhereTheCallFails) {
  const Linear plain(4, 3, rngs);
  WeightNorm<Linear> norm(plain);
  EXPECT_THAT(error_of([&] { norm(normals(1, {2, 5})); }), HasSubstr("5"));
  EXPECT_EQ(norm.layer_instance.kernel.state(), plain.kernel.state());
}

TEST_F(NormsTest, ErrorsNameLayerAndNumbers) {
  const Array x = normals(1, {2, 4});
  EXPECT_THAT(error_of([&] { LayerNorm(5, rngs)(x); }),
              AllOf(HasSubstr("LayerNorm"), HasSubstr("4 features"), HasSubstr("scale has 5")));
  EXPECT_THAT(error_of([&] { RMSNorm(5, rngs)(x); }),
              AllOf(HasSubstr("RMSNorm"), HasSubstr("4 features"), HasSubstr("scale has 5")));
  EXPECT_THAT(error_of([&] { BatchNorm(5, rngs)(x); }),
              AllOf(HasSubstr("BatchNorm"), HasSubstr("4 features"), HasSubstr("mean has 5")));
  EXPECT_THAT(error_of([&] { LayerNorm(4, rngs, {.reduction_axes = 2})(x); }),
              HasSubstr("has no axis 2"));
  EXPECT_THAT(error_of([&] { GroupNorm(6, rngs); }),
              AllOf(HasSubstr("6 features"), HasSubstr("num_groups is 32")));
  EXPECT_THAT(error_of([&] { GroupNorm(6, rngs, {.num_groups = 2, .group_size = 3}); }),
              HasSubstr("one of the two"));
  EXPECT_THAT(error_of([&] { GroupNorm(6, rngs, {.num_groups = 2})(x); }),
              AllOf(HasSubstr("4 features"), HasSubstr("6 in 2 groups")));
  EXPECT_THAT(error_of([&] { InstanceNorm(2, rngs, {.feature_axes = 0})(x); }),
              HasSubstr("which is the batch's"));
  EXPECT_THAT(error_of([&] { BatchNorm(4, rngs, {.use_running_average = std::nullopt})(x); }),
              HasSubstr("give use_running_average"));
  EXPECT_THAT(error_of([&] {
                SpectralNorm<LayerNorm>(LayerNorm(2, rngs, {.scale_init = cube}), rngs,
                                        {.error_on_non_matrix = true});
              }),
              AllOf(HasSubstr("scale"), HasSubstr("error_on_non_matrix")));
  EXPECT_THAT(error_of([&] {
                WeightNorm<Linear>(Linear(4, 3, rngs), {.scale_init = initializers::normal()});
              }),
              HasSubstr("give Rngs"));
}

}  // namespace
}  // namespace strata::nn
