#include "strata/train/report/plot.h"

#include <cairo/cairo.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "strata/base/check.h"
#include "strata/base/error.h"
#include "strata/base/file.h"

namespace strata::train {
namespace {

/// What part of the plane a chart shows.
struct Frame {
  double left = std::numeric_limits<double>::infinity(), right = -left, low = left, high = -left;
  bool empty() const { return !(left <= right); }
  /// 0 at the left or lower end, 1 at the other.
  double x(double v) const { return (v - left) / (right - left); }
  double y(double v) const { return (v - low) / (high - low); }
};

/// Around all points, with a margin above and below.
Frame frame_of(const Chart& chart) {
  Frame f;
  for (const Curve& c : chart.curves) {
    for (auto [x, y] : c.points) {
      f.left = std::min(f.left, x);
      f.right = std::max(f.right, x);
      f.low = std::min(f.low, y);
      f.high = std::max(f.high, y);
    }
  }
  if (f.empty()) return f;
  if (f.right == f.left) f.right = f.left + 1;
  const double margin = f.high == f.low ? 0.5 : 0.03 * (f.high - f.low);
  f.low -= margin;
  f.high += margin;
  return f;
}

/// The mean of the points of each of `columns` columns, where there are any.
std::vector<std::pair<double, double>> column_means(const Curve& curve, const Frame& f,
                                                    int columns) {
  std::map<int, std::pair<double, std::pair<double, double>>> sums;
  for (auto [x, y] : curve.points) {
    auto& [count, sum] = sums[std::min(columns - 1, static_cast<int>(f.x(x) * columns))];
    count += 1;
    sum.first += x;
    sum.second += y;
  }
  std::vector<std::pair<double, double>> out;
  for (const auto& [column, entry] : sums)
    out.emplace_back(entry.second.first / entry.first, entry.second.second / entry.first);
  return out;
}

std::string number(double v) { return fmt::format("{:.6g}", std::abs(v) < 1e-12 ? 0.0 : v); }

// -- Text

/// Dots in cells of two by four, each cell one Braille letter.
class Dots {
 public:
  Dots(int columns, int lines)
      : columns_(columns),
        lines_(lines),
        cells_(static_cast<std::size_t>(columns * lines)),
        marks_(cells_.size()) {}
  int width() const { return 2 * columns_; }
  int height() const { return 4 * lines_; }
  /// Dot (x, y) from the lower left.
  void set(int x, int y) {
    if (x < 0 || y < 0 || x >= width() || y >= height()) return;
    const int row = height() - 1 - y;
    // Unicode numbers the dots of a cell 1 2 3 7 down the left and 4 5 6 8 down the right.
    static constexpr std::array<int, 8> bit = {0, 1, 2, 6, 3, 4, 5, 7};
    cells_[cell(x / 2, row / 4)] |= 1 << bit[static_cast<std::size_t>(x % 2 * 4 + row % 4)];
  }
  /// A letter in the cell of dot (x, y).
  void mark(int x, int y, char letter) {
    marks_[cell(std::clamp(x / 2, 0, columns_ - 1),
                std::clamp((height() - 1 - y) / 4, 0, lines_ - 1))] = letter;
  }
  std::string line(int l) const {
    std::string out;
    for (int c = 0; c < columns_; ++c) {
      const std::size_t i = cell(c, l);
      if (marks_[i])
        out += marks_[i];
      else if (cells_[i] == 0)
        out += ' ';
      else
        append_utf8(out, 0x2800 + cells_[i]);
    }
    return out;
  }

 private:
  static void append_utf8(std::string& out, int letter) {
    out += static_cast<char>(0xe0 | letter >> 12);
    out += static_cast<char>(0x80 | (letter >> 6 & 63));
    out += static_cast<char>(0x80 | (letter & 63));
  }
  std::size_t cell(int c, int l) const { return static_cast<std::size_t>(l * columns_ + c); }
  int columns_, lines_;
  std::vector<int> cells_;
  std::vector<char> marks_;
};

/// Whether curves measured at every step are several: then a digit tells which is which.
bool several_dense(const Chart& chart) {
  return std::ranges::count_if(chart.curves, [](const Curve& c) { return !c.sparse; }) > 1;
}

char mark_of(std::size_t number) {
  return static_cast<char>(number < 9 ? '1' + number : 'a' + (number - 9) % 26);
}

/// The marks of the curves in order; none for a dense one that is alone.
std::vector<std::optional<char>> marks_of(const Chart& chart) {
  const bool all = several_dense(chart);
  std::vector<std::optional<char>> out;
  std::size_t number = 0;
  for (const Curve& c : chart.curves)
    out.push_back(c.sparse || all ? std::optional(mark_of(number++)) : std::nullopt);
  return out;
}

void draw(Dots& dots, const Chart& chart, const Frame& f) {
  auto x_of = [&](double v) { return static_cast<int>(std::lround(f.x(v) * (dots.width() - 1))); };
  auto y_of = [&](double v) { return static_cast<int>(std::lround(f.y(v) * (dots.height() - 1))); };
  const std::vector<std::optional<char>> marks = marks_of(chart);
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    const Curve& c = chart.curves[i];
    if (c.sparse) {
      for (auto [x, y] : c.points) dots.mark(x_of(x), y_of(y), *marks[i]);
      continue;
    }
    if (marks[i]) {
      // Many points: curves take turns, so that those that cover each other all show.
      const std::size_t n = chart.curves.size();
      const bool few = c.points.size() * n <= static_cast<std::size_t>(dots.width() / 2);
      for (auto [x, y] : column_means(c, f, dots.width() / 2))
        if (few || static_cast<std::size_t>(x_of(x) / 2) % n == i)
          dots.mark(x_of(x), y_of(y), *marks[i]);
      continue;
    }
    int before = -1;
    for (auto [x, y] : column_means(c, f, dots.width())) {
      const int to = y_of(y), from = before < 0 ? to : before;
      // A steep piece fills its column, so that the curve has no gaps.
      for (int v = std::min(from, to); v <= std::max(from, to); ++v) {
        if (v != from || from == to) dots.set(x_of(x), v);
      }
      before = to;
    }
  }
}

std::string legend(const Chart& chart) {
  std::string out;
  const std::vector<std::optional<char>> marks = marks_of(chart);
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    const Curve& c = chart.curves[i];
    if (c.points.empty()) continue;
    const std::string mark = marks[i] ? std::string(1, *marks[i]) : "\u2836";
    out += fmt::format("{}{} {} {}", out.empty() ? "" : "   ", mark, c.name,
                       fmt::format("{:.3f}", c.points.back().second));
  }
  return out;
}

// -- PNG

constexpr double kMarginLeft = 74, kMarginRight = 24, kMarginTop = 48, kMarginBottom = 58;

struct Colour {
  double r, g, b;
};
/// Okabe and Ito's palette, which people who do not see all colours can tell apart.
constexpr std::array<Colour, 7> kColours = {{{0.34, 0.34, 0.34},
                                             {0.00, 0.45, 0.70},
                                             {0.84, 0.37, 0.00},
                                             {0.00, 0.62, 0.45},
                                             {0.80, 0.47, 0.65},
                                             {0.90, 0.62, 0.00},
                                             {0.34, 0.71, 0.91}}};

class Picture {
 public:
  Picture(const Chart& chart, const Frame& frame, int width, int height)
      : chart_(chart),
        f_(frame),
        width_(width),
        height_(height),
        surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height),
                 cairo_surface_destroy),
        c_(cairo_create(surface_.get()), cairo_destroy) {
    cairo_set_source_rgb(c_.get(), 1, 1, 1);
    cairo_paint(c_.get());
    cairo_select_font_face(c_.get(), "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           CAIRO_FONT_WEIGHT_NORMAL);
  }

  void draw() {
    text(width_ / 2.0, 26, chart_.title, 17, 0.5);
    if (f_.empty()) {
      text(width_ / 2.0, height_ / 2.0, "no points yet", 15, 0.5);
      return;
    }
    axes();
    cairo_save(c_.get());
    cairo_rectangle(c_.get(), kMarginLeft, kMarginTop, plot_width(), plot_height());
    cairo_clip(c_.get());
    for (std::size_t i = 0; i < chart_.curves.size(); ++i)
      curve(chart_.curves[i], kColours[i % kColours.size()]);
    cairo_restore(c_.get());
    legend();
  }

  std::string bytes() const {
    std::string out;
    auto append = [](void* to, const unsigned char* data, unsigned size) {
      static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), size);
      return CAIRO_STATUS_SUCCESS;
    };
    const cairo_status_t status = cairo_surface_write_to_png_stream(surface_.get(), append, &out);
    STRATA_CHECK(status == CAIRO_STATUS_SUCCESS, "cairo: {}", cairo_status_to_string(status));
    return out;
  }

 private:
  double plot_width() const { return width_ - kMarginLeft - kMarginRight; }
  double plot_height() const { return height_ - kMarginTop - kMarginBottom; }
  double x_of(double v) const { return kMarginLeft + f_.x(v) * plot_width(); }
  double y_of(double v) const { return kMarginTop + (1 - f_.y(v)) * plot_height(); }

  /// `align` 0: begins at x, 0.5: its middle, 1: ends there.
  void text(double x, double y, const std::string& words, double size, double align) {
    cairo_text_extents_t e;
    cairo_set_source_rgb(c_.get(), 0.15, 0.15, 0.15);
    cairo_set_font_size(c_.get(), size);
    cairo_text_extents(c_.get(), words.c_str(), &e);
    cairo_move_to(c_.get(), x - align * e.x_advance, y);
    cairo_show_text(c_.get(), words.c_str());
  }
  /// Fades what is drawn where a line of the legend that ends at x will stand.
  void behind(double x, double y, const std::string& words, double size) {
    cairo_text_extents_t e;
    cairo_set_font_size(c_.get(), size);
    cairo_text_extents(c_.get(), words.c_str(), &e);
    cairo_set_source_rgba(c_.get(), 1, 1, 1, 0.8);
    cairo_rectangle(c_.get(), x - e.x_advance - 4, y - 14, e.x_advance + 30, 20);
    cairo_fill(c_.get());
  }
  void line(double x0, double y0, double x1, double y1, double grey, double thickness) {
    cairo_set_source_rgb(c_.get(), grey, grey, grey);
    cairo_set_line_width(c_.get(), thickness);
    cairo_move_to(c_.get(), x0, y0);
    cairo_line_to(c_.get(), x1, y1);
    cairo_stroke(c_.get());
  }

  void axes() {
    const double right = width_ - kMarginRight, bottom = height_ - kMarginBottom;
    for (double v : round_ticks(f_.left, f_.right, 8)) {
      line(x_of(v), kMarginTop, x_of(v), bottom, 0.9, 1);
      text(x_of(v), bottom + 19, number(v), 13, 0.5);
    }
    for (double v : round_ticks(f_.low, f_.high, 8)) {
      line(kMarginLeft, y_of(v), right, y_of(v), 0.9, 1);
      text(kMarginLeft - 8, y_of(v) + 4.5, number(v), 13, 1);
    }
    line(kMarginLeft, bottom, right, bottom, 0.15, 1.2);
    line(kMarginLeft, kMarginTop, kMarginLeft, bottom, 0.15, 1.2);
    text((kMarginLeft + right) / 2, height_ - 14.0, chart_.x_label, 14, 0.5);
    cairo_save(c_.get());
    cairo_translate(c_.get(), 20, (kMarginTop + bottom) / 2);
    cairo_rotate(c_.get(), -std::acos(0.0));
    text(0, 0, chart_.y_label, 14, 0.5);
    cairo_restore(c_.get());
  }

  void path(const std::vector<std::pair<double, double>>& points, Colour colour, double opacity,
            double thickness) {
    cairo_set_source_rgba(c_.get(), colour.r, colour.g, colour.b, opacity);
    cairo_set_line_width(c_.get(), thickness);
    cairo_set_line_join(c_.get(), CAIRO_LINE_JOIN_ROUND);
    cairo_new_path(c_.get());
    for (auto [x, y] : points) cairo_line_to(c_.get(), x_of(x), y_of(y));
    cairo_stroke(c_.get());
  }

  void curve(const Curve& curve, Colour colour) {
    if (!curve.sparse) {
      // Where noisy curves cross, their means alone can be told apart.
      const bool several = several_dense(chart_);
      if (!several) path(curve.points, colour, 0.25, 1);
      path(column_means(curve, f_, several ? 40 : 120), colour, 1, 2);
      return;
    }
    path(curve.points, colour, 1, 2);
    for (auto [x, y] : curve.points) {
      cairo_arc(c_.get(), x_of(x), y_of(y), 3.5, 0, 4 * std::acos(0.0));
      cairo_fill(c_.get());
    }
  }

  void legend() {
    double y = kMarginTop + 18;
    for (std::size_t i = 0; i < chart_.curves.size(); ++i) {
      const Curve& c = chart_.curves[i];
      if (c.points.empty()) continue;
      const Colour colour = kColours[i % kColours.size()];
      const std::string words = fmt::format("{}  {:.3f}", c.name, c.points.back().second);
      behind(width_ - kMarginRight - 26, y, words, 13);
      cairo_set_source_rgb(c_.get(), colour.r, colour.g, colour.b);
      cairo_rectangle(c_.get(), width_ - kMarginRight - 18, y - 9, 12, 9);
      cairo_fill(c_.get());
      text(width_ - kMarginRight - 26, y, words, 13, 1);
      y += 20;
    }
  }

  const Chart& chart_;
  const Frame& f_;
  int width_, height_;
  std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)> surface_;
  std::unique_ptr<cairo_t, decltype(&cairo_destroy)> c_;
};

constexpr std::string_view kEvalPrefix = "eval/", kEvalSuffix = "/loss";

}  // namespace

Chart loss_chart(const std::vector<MetricsLine>& lines, const std::string& title) {
  Chart out{title, "step", "loss, nats for each token", {{"train", {}, false}}};
  std::map<std::string, Curve> evals;
  for (const MetricsLine& line : lines) {
    const auto step = static_cast<double>(line.step);
    for (const auto& [name, value] : line.values) {
      if (name == "learning/loss") out.curves[0].points.emplace_back(step, value);
      if (name.starts_with(kEvalPrefix) && name.ends_with(kEvalSuffix) &&
          name.size() > kEvalPrefix.size() + kEvalSuffix.size()) {
        const std::string source =
            name.substr(kEvalPrefix.size(), name.size() - kEvalPrefix.size() - kEvalSuffix.size());
        Curve& curve = evals.try_emplace(source, Curve{"eval " + source, {}, true}).first->second;
        curve.points.emplace_back(step, value);
      }
    }
  }
  for (auto& [name, curve] : evals) out.curves.push_back(std::move(curve));
  return out;
}

Chart runs_chart(const std::vector<NamedRun>& runs, const RunsChartOptions& options) {
  const bool loss = options.metric.find("loss") != std::string::npos;
  Chart out{options.metric, "step", loss ? "loss, nats for each token" : options.metric, {}};
  for (const NamedRun& run : runs) {
    Curve curve{run.name, {}, options.metric.starts_with(kEvalPrefix)};
    std::set<std::string> seen;
    for (const MetricsLine& line : run.lines) {
      for (const auto& [name, value] : line.values) {
        seen.insert(name);
        if (name == options.metric && line.step >= options.first_step)
          curve.points.emplace_back(static_cast<double>(line.step), value);
      }
    }
    if (curve.points.empty())
      throw Error("plot", "{} has no {} from step {} on; its {} records have {}", run.name,
                  options.metric, options.first_step, run.lines.size(),
                  seen.empty() ? "nothing" : fmt::format("{}", fmt::join(seen, ", ")));
    out.curves.push_back(std::move(curve));
  }
  return out;
}

std::vector<double> round_ticks(double low, double high, int n) {
  const double wanted = (high - low) / n;
  if (!(wanted > 0) || !std::isfinite(wanted)) return {low};
  const double power = std::pow(10.0, std::floor(std::log10(wanted)));
  double step = 10 * power;
  for (double times : {5.0, 2.0, 1.0}) {
    if (times * power >= wanted * (1 - 1e-9)) step = times * power;
  }
  std::vector<double> out;
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i)
    out.push_back(i * step);
  return out;
}

std::string to_text(const Chart& chart, int width, int height) {
  const Frame f = frame_of(chart);
  if (f.empty()) return fmt::format("{}: no points yet\n", chart.title);
  Dots dots(width, height);
  draw(dots, chart, f);
  // Each tick stands at the line that holds it.
  std::map<int, std::string> ticks;
  for (double v : round_ticks(f.low, f.high, height / 2)) {
    const int dot = static_cast<int>(std::lround(f.y(v) * (dots.height() - 1)));
    ticks[(dots.height() - 1 - dot) / 4] = number(v);
  }
  std::string out = fmt::format("{} ({})\n", chart.title, chart.y_label);
  for (int l = 0; l < height; ++l) {
    std::string line = fmt::format("{:>7} {}{}", ticks.contains(l) ? ticks[l] : "",
                                   ticks.contains(l) ? "\u2524" : "\u2502", dots.line(l));
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  std::string rule;
  for (int i = 0; i < width; ++i) rule += "\u2500";
  const std::string first = number(f.left),
                    last = fmt::format("{} {}", chart.x_label, number(f.right));
  out += fmt::format("{:>7} \u2514{}\n{:>9}{}{:>{}}\n", "", rule, "", first, last,
                     width - static_cast<int>(first.size()));
  return out + fmt::format("{:>9}{}\n", "", legend(chart));
}

std::string to_png(const Chart& chart, int width, int height) {
  const Frame f = frame_of(chart);
  Picture picture(chart, f, width, height);
  picture.draw();
  return picture.bytes();
}

Status write_png(const Chart& chart, const std::string& path) {
  return write_file_atomic(path, to_png(chart));
}

}  // namespace strata::train
