// Curves over steps: as a picture, and as a few lines of text.
//
//   Chart chart = loss_chart(*read_metrics("run/metrics/metrics.jsonl"), "run");
//   std::cout << to_text(chart);
//   Status s = write_png(chart, "run/loss.png");
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "strata/base/result.h"
#include "strata/train/metrics.h"

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

/// At most n + 1 round numbers (1, 2 or 5 times a power of ten apart) that lie in [low, high].
std::vector<double> round_ticks(double low, double high, int n);

/// `width` columns and `height` lines of dots between axes with numbers; dense curves as dots of
/// Braille letters (the mean where several steps share a column), sparse ones as the digits that
/// the legend names. A chart without points is one line that says so.
std::string to_text(const Chart& chart, int width = 64, int height = 14);

/// A PNG file's bytes: axes, grid, legend, each curve in its colour. Drawn by cairo.
std::string to_png(const Chart& chart, int width = 960, int height = 600);
Status write_png(const Chart& chart, const std::string& path);

}  // namespace strata::train
