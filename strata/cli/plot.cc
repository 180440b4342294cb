#include "strata/train/report/plot.h"

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
  std::vector<std::string> runs;
  std::string png;
  train::RunsChartOptions chart{.metric = "", .first_step = 0};
  int width = 64, height = 14;
};

bool is_file(const std::string& run) { return std::filesystem::is_regular_file(run); }

std::string metrics_of(const std::string& run) {
  return is_file(run) ? run : run + "/metrics/metrics.jsonl";
}

/// "runs/first/" is "first", "first.jsonl" too.
std::string name_of(const std::string& run) {
  const auto path = std::filesystem::path(run).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).stem().string();
}

/// NAME=RUN, or a run that is called as its folder.
Result<train::NamedRun> read_run(const std::string& text) {
  const std::size_t equals = text.find('=');
  const bool named = equals != std::string::npos && !std::filesystem::exists(text);
  const std::string run = named ? text.substr(equals + 1) : text;
  auto lines = train::read_metrics(metrics_of(run));
  if (!lines) return lines.status();
  return train::NamedRun{named ? text.substr(0, equals) : name_of(run), std::move(*lines)};
}

int show(const train::Chart& chart, const std::string& png, const Options& o) {
  std::cout << train::to_text(chart, o.width, o.height);
  if (png.empty()) return kDone;
  if (Status s = train::write_png(chart, png); !s.ok()) return fail(s);
  std::cout << fmt::format("curve: {}\n", png);
  return kDone;
}

/// The losses of a run, of training and of each source's evaluation.
int one_run(const Options& o) {
  const std::string& run = o.runs[0];
  const std::string path = metrics_of(run);
  auto lines = train::read_metrics(path);
  if (!lines) return fail(lines.status());
  const train::Chart chart = train::loss_chart(*lines, name_of(run));
  const auto has_points = [](const train::Curve& c) { return !c.points.empty(); };
  if (std::none_of(chart.curves.begin(), chart.curves.end(), has_points))
    return fail(Status(Code::invalid,
                       "{}: no losses to draw: none of its {} records of steps has learning/loss",
                       path, lines->size()));
  return show(chart, !o.png.empty() ? o.png : is_file(run) ? "" : run + "/loss.png", o);
}

/// One metric of each run.
int run(const Options& o) {
  if (o.runs.size() == 1 && o.chart.metric.empty() && o.chart.first_step == 0) return one_run(o);
  std::vector<train::NamedRun> runs;
  for (const std::string& text : o.runs) {
    auto one = read_run(text);
    if (!one) return fail(one.status());
    runs.push_back(std::move(*one));
  }
  train::RunsChartOptions chart = o.chart;
  if (chart.metric.empty()) chart.metric = "learning/lm_loss";
  return show(train::runs_chart(runs, chart), o.png, o);
}

}  // namespace

void add_plot(CommandLine& app, std::function<int()>& action) {
  CommandLine& command =
      app.add_subcommand("plot", "draws the losses of runs, as text and as a PNG");
  command.description(
      "Draws the losses of a run: a chart of text on stdout, and RUN/loss.png. Of several runs one "
      "metric, a curve each, and\na picture where --png says.\n\nExample:\n  strata plot "
      "build/demo/demo\n  strata plot dense=runs/a experts=runs/b --metric eval/avg_loss --png "
      "both.png\n");
  auto o = std::make_shared<Options>();
  command.add_option("runs", o->runs, "runs' folders, or files of metrics; NAME=RUN names one")
      .type_name("RUN...")
      .required();
  command.add_option("--png", o->png, "where the picture goes (default: RUN/loss.png of one run)");
  command.add_option(
      "--metric", o->chart.metric,
      "what is drawn, as metrics.jsonl names it (of several runs: learning/lm_loss)");
  command.add_option("--first_step", o->chart.first_step, "earlier steps are left out")
      .in_range(0, 1000000000);
  command.add_option("--width", o->width, "columns of the chart").in_range(8, 400).show_default();
  command.add_option("--height", o->height, "lines of the chart").in_range(3, 200).show_default();
  command.callback([o, &action] { action = [o] { return run(*o); }; });
}

}  // namespace strata::cli
