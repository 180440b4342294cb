#include "strata/train/report/plot.h"

#include <cairo/cairo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "strata/base/error.h"

namespace strata::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Chart example() {
  std::vector<MetricsLine> lines;
  for (int step = 1; step <= 400; ++step) {
    lines.push_back(
        {step,
         {{"learning/loss", 2 + 6 * std::exp(-step / 60.0)}, {"perf/step_time_seconds", 0.1}}});
    if (step % 100 == 0)
      lines.push_back(
          {step, {{"eval/kjv/loss", 2.5 + 6 * std::exp(-step / 60.0)}, {"eval/avg_loss", 1}}});
  }
  return loss_chart(lines, "a run");
}

TEST(Plot, ChartsAreMadeOfMetrics) {
  const Chart c = example();
  ASSERT_EQ(c.curves.size(), 2u);
  EXPECT_EQ(c.curves[0].points.size(), 400u);
  EXPECT_EQ(c.curves[1].name, "eval kjv");
  EXPECT_EQ(c.curves[1].points.size(), 4u);
}

TEST(Plot, TicksAreRound) {
  EXPECT_THAT(round_ticks(0, 10, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(round_ticks(1.2, 2.3, 4), ElementsAre(1.5, 2));
  EXPECT_THAT(round_ticks(3, 3, 4), ElementsAre(3));
  EXPECT_THAT(round_ticks(1, 1500, 3), ElementsAre(500, 1000, 1500));
}

TEST(Plot, TextIsTheSameEachTime) {
  EXPECT_EQ(to_text(example(), 40, 8), R"(a run (loss, nats for each token)
      8 ┤⢄
        │⠈⢆
      6 ┤ ⠈⢆
        │   ⠣⡀
        │    ⠑⢄
      4 ┤      ⠑⠢⣀ 1
        │         ⠉⠒⠤⢄⣀⡀    1         1
      2 ┤              ⠈⠉⠉⠑⠒⠒⠒⠒⠒⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤1
        └────────────────────────────────────────
         1                               step 400
         ⠶ train 2.008   1 eval kjv 2.508
)");
}

/// The pixels of a PNG file's bytes.
std::vector<std::uint32_t> decode(std::string bytes, int& width, int& height) {
  auto read = [](void* from, unsigned char* to, unsigned size) {
    auto* rest = static_cast<std::string*>(from);
    if (rest->size() < size) return CAIRO_STATUS_READ_ERROR;
    std::copy_n(rest->begin(), size, to);
    rest->erase(0, size);
    return CAIRO_STATUS_SUCCESS;
  };
  cairo_surface_t* surface = cairo_image_surface_create_from_png_stream(read, &bytes);
  EXPECT_EQ(cairo_surface_status(surface), CAIRO_STATUS_SUCCESS);
  width = cairo_image_surface_get_width(surface);
  height = cairo_image_surface_get_height(surface);
  std::vector<std::uint32_t> out;
  for (int y = 0; y < height; ++y) {
    const auto* row = reinterpret_cast<const std::uint32_t*>(
        cairo_image_surface_get_data(surface) + y * cairo_image_surface_get_stride(surface));
    for (int x = 0; x < width; ++x) out.push_back(row[x] & 0xffffff);
  }
  cairo_surface_destroy(surface);
  return out;
}

/// A run whose loss falls to `last`, with an evaluation at every 100th step.
NamedRun falling(const std::string& name, double last) {
  NamedRun run{name, {}};
  for (int step = 1; step <= 400; ++step) {
    const double loss = last + 6 * std::exp(-step / 60.0);
    run.lines.push_back({step, {{"learning/loss", loss + 1}, {"learning/lm_loss", loss}}});
    if (step % 100 == 0) run.lines.push_back({step, {{"eval/avg_loss", loss + 0.5}}});
  }
  return run;
}

TEST(Plot, SeveralRunsShareAChart) {
  const Chart c = runs_chart({falling("dense", 2), falling("experts", 1)}, {.first_step = 100});
  ASSERT_EQ(c.curves.size(), 2u);
  EXPECT_EQ(c.curves[0].points.size(), 301u);
  EXPECT_EQ(c.curves[0].points.front().first, 100);
  EXPECT_EQ(to_text(c, 40, 8), R"(learning/lm_loss (loss, nats for each token)
      3 ┤1
        │  1
        │    1 1 1
        │          1 1 1 1 1 1
      2 ┤ 2                    1 1 1 1 1 1 1 1 1
        │   2 2
        │       2 2 2 2
      1 ┤               2 2 2 2 2 2 2 2 2 2 2 2 2
        └────────────────────────────────────────
         100                             step 400
         1 dense 2.008   2 experts 1.008
)");
  const Chart eval = runs_chart({falling("dense", 2)}, {.metric = "eval/avg_loss"});
  EXPECT_TRUE(eval.curves[0].sparse);
  EXPECT_EQ(eval.curves[0].points.size(), 4u);
}

TEST(Plot, AMetricThatThereIsNotIsToldWithThoseThatThereAre) {
  try {
    (void)runs_chart({falling("dense", 2)}, {.metric = "learning/los"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("dense has no learning/los from step 0 on; its 404 records "
                                    "have eval/avg_loss, learning/lm_loss, learning/loss"));
  }
}

TEST(Plot, ThePictureOfSeveralRunsHasAColourForEach) {
  int width = 0, height = 0;
  const auto pixels =
      decode(to_png(runs_chart({falling("dense", 2), falling("experts", 1)})), width, height);
  const std::set<std::uint32_t> colours(pixels.begin(), pixels.end());
  EXPECT_TRUE(colours.contains(0x575757)) << "the first run's grey";
  EXPECT_TRUE(colours.contains(0x0073b3)) << "the second run's blue";
}

TEST(Plot, TextWithoutPointsSaysSo) {
  EXPECT_EQ(to_text(loss_chart({}, "a run")), "a run: no points yet\n");
}

TEST(Plot, ThePictureDecodesAndShowsEachCurve) {
  int width = 0, height = 0;
  const auto pixels = decode(to_png(example(), 480, 320), width, height);
  EXPECT_EQ(width, 480);
  EXPECT_EQ(height, 320);
  const std::set<std::uint32_t> colours(pixels.begin(), pixels.end());
  EXPECT_TRUE(colours.contains(0xffffff));
  EXPECT_TRUE(colours.contains(0x0073b3)) << "the evaluation's blue";
  EXPECT_GT(colours.size(), 20u);
  // A chart without points is white but for its words.
  const auto empty = decode(to_png(loss_chart({}, "")), width, height);
  EXPECT_FALSE(std::set<std::uint32_t>(empty.begin(), empty.end()).contains(0x0073b3));
}

}  // namespace
}  // namespace strata::train
