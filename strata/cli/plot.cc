#include "strata/train/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>

#include "strata/base/file.h"
#include "strata/cli/command.h"

namespace strata::cli {
namespace {

struct Options {
  std::string run, png;
  int width = 64, height = 14;
};

int run(const Options& o) {
  const bool is_file = std::filesystem::is_regular_file(o.run);
  const std::string path = is_file ? o.run : o.run + "/metrics/metrics.jsonl";
  auto lines = train::read_metrics(path);
  if (!lines) return fail(lines.status());
  const train::Chart chart =
      train::loss_chart(*lines, std::filesystem::path(o.run).lexically_normal().stem().string());
  const auto has_points = [](const train::Curve& c) { return !c.points.empty(); };
  if (std::none_of(chart.curves.begin(), chart.curves.end(), has_points))
    return fail(Status(Code::invalid,
                       "{}: no losses to draw: none of its {} records of steps has learning/loss",
                       path, lines->size()));
  const std::string png = !o.png.empty() ? o.png : is_file ? "" : o.run + "/loss.png";
  std::cout << train::to_text(chart, o.width, o.height);
  if (png.empty()) return kDone;
  if (Status s = train::write_png(chart, png); !s.ok()) return fail(s);
  std::cout << fmt::format("curve: {}\n", png);
  return kDone;
}

}  // namespace

void add_plot(CommandLine& app, std::function<int()>& action) {
  CommandLine& command =
      app.add_subcommand("plot", "draws the losses of a run, as text and as a PNG");
  command.description(
      "Draws the losses of a run: a chart of text on stdout, and RUN/loss.png.\n\nExample:\n  "
      "strata plot build/demo/demo\n");
  auto o = std::make_shared<Options>();
  command.add_option("run", o->run, "a run's folder, or a file of metrics").required();
  command.add_option("--png", o->png, "where the picture goes (default: RUN/loss.png)");
  command.add_option("--width", o->width, "columns of the chart").in_range(8, 400).show_default();
  command.add_option("--height", o->height, "lines of the chart").in_range(3, 200).show_default();
  command.callback([o, &action] { action = [o] { return run(*o); }; });
}

}  // namespace strata::cli
