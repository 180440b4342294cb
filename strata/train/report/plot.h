// Curves over steps: as a picture, and as a few lines of text.
//
//   Chart chart = loss_chart(*read_metrics("run/metrics/metrics.jsonl"), "run");
//   std::cout << to_text(chart);
//   Status s = write_png(chart, "run/loss.png");
//
// Several runs in one picture:
//
//   Chart both = runs_chart({{"dense", dense_lines}, {"experts", experts_lines}},
//                           {.metric = "learning/lm_loss"});
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "strata/base/result.h"
#include "strata/train/report/metrics.h"

namespace strata::train {

struct Curve {
  std::string name;
  /// (x, y), x increasing.
  std::vector<std::pair<double, double>> points;
  /// Measured now and then: its points are marked and joined. Otherwise at every step: drawn thin,
  /// its mean over it.
  bool sparse = false;
};
struct Chart {
  std::string title, x_label, y_label;
  std::vector<Curve> curves;
};

/// The loss of training ("learning/loss") and of each evaluation ("eval/NAME/loss"), in nats for
/// each token.
Chart loss_chart(const std::vector<MetricsLine>& lines, const std::string& title);

/// A run's records, and what the legend calls it.
struct NamedRun {
  std::string name;
  std::vector<MetricsLine> lines;
};
struct RunsChartOptions {
  /// Of each record: "learning/lm_loss", "eval/avg_loss", "experts/idle".
  std::string metric = "learning/lm_loss";
  /// Records of earlier steps are left out.
  std::int64_t first_step = 0;
};
/// One metric of several runs, a curve each; what is evaluated now and then ("eval/...") is sparse.
/// Throws Error that names what the runs do record, where one has none of it.
Chart runs_chart(const std::vector<NamedRun>& runs, const RunsChartOptions& options = {});

/// At most n + 1 round numbers (1, 2 or 5 times a power of ten apart) within [low, high].
std::vector<double> round_ticks(double low, double high, int n);

/// `width` columns and `height` lines of dots between axes with numbers; dense curves as dots of
/// Braille letters (the mean where several steps share a column), sparse ones as the digits that
/// the legend names; several dense ones as digits too, each in columns of its own. A chart without
/// points is one line that says so.
std::string to_text(const Chart& chart, int width = 64, int height = 14);

/// A PNG file's bytes: axes, grid, legend, each curve in its colour. Drawn by cairo.
std::string to_png(const Chart& chart, int width = 960, int height = 600);
Status write_png(const Chart& chart, const std::string& path);

}  // namespace strata::train
