// Metrics and averages of models through transforms, and what they refuse.
#include "strata/nn/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/ema.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/transform/jit.h"
#include "strata/nn/transform/scan.h"

namespace strata::nn {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class MetricsTest : public testing::Test {
 protected:
  MetricsTest() { compile::register_cpu(); }
  template <class F>
  static std::string error_of(F f) {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }
};

TEST_F(MetricsTest, ThoseOfManyBatchesAreThoseOfAll) {
  const Array x = random::normal(random::key(0), {5, 8}, DType::f32);
  Welford whole, parts;
  whole.update({{"values", x}});
  nn::scan(
      [](Welford& m, const Array& row) {
        m.update({{"values", row}});
        return Array(0);
      },
      {.in_axes = {none, 0}, .out_axes = {0}})(parts, x);
  EXPECT_EQ(parts.count.item<int>(), 40);
  EXPECT_NEAR(parts.compute().mean.item<float>(), numpy::mean(x).item<float>(), 1e-6);
  EXPECT_NEAR(parts.compute().standard_deviation.item<float>(), numpy::std_(x).item<float>(), 1e-6);
  EXPECT_NEAR(parts.compute().standard_error_of_mean.item<float>(),
              whole.compute().standard_error_of_mean.item<float>(), 1e-6);
}

TEST_F(MetricsTest, AreStatesThatSplitAndMerge) {
  RecordProperty("api", "nnx.Metric.split");
  Welford spread;
  spread.update({{"values", array({1.0f, 2.0f, 6.0f})}});
  const auto [sums, rest] = split(spread, of<MetricState>(), everything());
  EXPECT_THAT(sums.names(), ElementsAre("count", "m2", "mean"));
  EXPECT_TRUE(rest.empty());
  const Welford again = merge(Welford(), sums);
  EXPECT_EQ(again.compute().mean.item<float>(), spread.compute().mean.item<float>());
  EXPECT_EQ(again.count.item<int>(), 3);
}

TEST_F(MetricsTest, SeveralByNameUnderJit) {
  MultiMetric metrics({{"accuracy", Accuracy()}, {"loss", Average("loss")}});
  EXPECT_THAT(tree::of(metrics).names(),
              ElementsAre("accuracy/count", "accuracy/total", "loss/count", "loss/total"));
  const auto step = nn::jit([](MultiMetric& m, const Array& logits, const Array& labels) {
    m.update({{"logits", logits}, {"labels", labels}, {"loss", numpy::sum(logits, -1)}});
  });
  const Array logits = array({{1.0f, 0.0f}, {0.0f, 3.0f}, {2.0f, 0.0f}, {1.0f, 1.0f}});
  step(metrics, logits, array({0, 1, 1, 0}));
  step(metrics, logits, array({1, 1, 1, 1}));
  EXPECT_EQ(step.cache_size(), 1u);
  const tree::Tree now = metrics.compute();
  EXPECT_EQ(now["accuracy"].item<float>(), 0.5f);
  EXPECT_EQ(now["loss"].item<float>(), 2.0f);
  metrics.reset();
  EXPECT_TRUE(std::isnan(metrics.compute()["loss"].item<float>()));
}

TEST_F(MetricsTest, ErrorsNameWhatIsMissing) {
  const Array x = numpy::ones({4});
  EXPECT_THAT(error_of([&] { Average("loss").update({{"values", x}}); }),
              AllOf(HasSubstr("no loss"), HasSubstr("[values]")));
  EXPECT_THAT(error_of([&] { Accuracy().update({{"logits", x}}); }), HasSubstr("no labels"));
  const Array labels = numpy::zeros({4}, DType::i32);
  EXPECT_THAT(error_of([&] { Accuracy().update({{"logits", x}, {"labels", labels}}); }),
              AllOf(HasSubstr("several classes"), HasSubstr("f32[4]"), HasSubstr("i32[4]")));
  EXPECT_THAT(error_of([&] { Accuracy(0.5).update({{"logits", x}, {"labels", x}}); }),
              HasSubstr("labels are i32, got f32[4]"));
  EXPECT_THAT(error_of([&] { Welford().update({{"values", x}}, {.mask = x}); }),
              HasSubstr("no mask"));
  MultiMetric metrics(std::map<std::string, Metric>{{"loss", Average()}});
  EXPECT_THAT(error_of([&] { metrics.update({{"values", x}}, {.masks = {{"lost", x}}}); }),
              AllOf(HasSubstr("lost"), HasSubstr("[loss]")));
}

TEST_F(MetricsTest, AveragesOfAModelMoveUnderJit) {
  Rngs rngs(0);
  Linear model(3, 2, rngs);
  EMA ema(model, 0.5, tree::path("kernel"));
  EXPECT_THAT(tree::of(ema).names(), ElementsAre("params/kernel"));
  const Linear first = model;
  model.kernel = model.kernel + 1.0f;
  *model.bias = *model.bias + 1.0f;
  const auto step = nn::jit([](EMA& e, const Linear& m) { e.update(m); });
  step(ema, model);
  step(ema, model);
  const Linear smooth = ema.apply_to(model);
  const Array moved = numpy::abs(smooth.kernel - (first.kernel + 0.75f));
  EXPECT_LT(numpy::max(moved).item<float>(), 1e-6);
  EXPECT_EQ(smooth.bias->state(), model.bias->state());
  EXPECT_EQ(ema.params.entry(0).kind->name(), "Param");
}

TEST_F(MetricsTest, AveragesRefuseOtherModels) {
  Rngs rngs(0);
  EMA ema(Linear(3, 2, rngs), 0.9);
  EXPECT_THAT(error_of([&] { ema.update(Linear(3, 2, rngs, {.use_bias = false})); }),
              AllOf(HasSubstr("EMA"), HasSubstr("no bias")));
  EXPECT_THAT(error_of([&] { EMA(Linear(3, 2, rngs), 1.5); }), HasSubstr("decay is 1.5"));
}

}  // namespace
}  // namespace strata::nn
