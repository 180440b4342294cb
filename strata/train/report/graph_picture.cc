#include "strata/train/report/graph_picture.h"

#include <cairo/cairo-svg.h>
#include <cairo/cairo.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "strata/base/check.h"
#include "strata/base/file.h"

namespace strata::train {
namespace {

using data::GraphNode;

constexpr double kWidth = 290, kHeight = 62, kAcross = 24, kDown = 40, kMargin = 24;
constexpr std::size_t kMostLetters = 46;

/// The middle of each box: sources in turn from left to right, others over what they read from.
struct Layout {
  std::vector<double> x;
  double width = 0, height = 0;
  std::vector<double> y;
};

Layout layout_of(const std::vector<GraphNode>& nodes) {
  Layout out;
  out.x.resize(nodes.size());
  out.y.resize(nodes.size());
  int deepest = 0;
  for (const GraphNode& n : nodes) deepest = std::max(deepest, n.depth);
  double next = kMargin + kWidth / 2;
  // Inputs stand behind what reads them, so that the last is placed first; the leftmost leaf is the
  // first in the list.
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].inputs.empty()) continue;
    out.x[i] = next;
    next += kWidth + kAcross;
  }
  for (std::size_t i = nodes.size(); i-- > 0;) {
    out.y[i] = kMargin + kHeight / 2 + (deepest - nodes[i].depth) * (kHeight + kDown);
    if (!nodes[i].inputs.empty())
      out.x[i] = (out.x[nodes[i].inputs.front()] + out.x[nodes[i].inputs.back()]) / 2;
  }
  out.width = next - kWidth / 2 - kAcross + kMargin;
  out.height = 2 * kMargin + (deepest + 1) * kHeight + deepest * kDown;
  return out;
}

std::string shortened(std::string text) {
  if (text.size() <= kMostLetters) return text;
  std::size_t most = kMostLetters - 3;
  while ((static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most) + "...";
}

/// The operation, its options, what it took.
std::vector<std::string> lines_of(const GraphNode& n) {
  const std::size_t open = std::min(n.name.find_first_of("(["), n.name.size());
  std::vector<std::string> out = {shortened(n.name.substr(0, open)),
                                  shortened(n.name.substr(open))};
  if (n.elements > 0 || n.share > 0) {
    const double seconds = 1e-9 * static_cast<double>(n.nanoseconds);
    out.push_back(fmt::format(
        "{} elements{}, {:.1f} %", n.elements,
        n.nanoseconds == 0 ? ""
                           : fmt::format(", {:.0f} /s", static_cast<double>(n.elements) / seconds),
        100 * n.share));
  }
  return out;
}

class Painter {
 public:
  explicit Painter(cairo_surface_t* surface) : c_(cairo_create(surface), cairo_destroy) {
    cairo_set_source_rgb(c_.get(), 1, 1, 1);
    cairo_paint(c_.get());
    cairo_select_font_face(c_.get(), "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           CAIRO_FONT_WEIGHT_NORMAL);
  }
  void arrow(double x0, double y0, double x1, double y1) {
    cairo_set_source_rgb(c_.get(), 0.45, 0.45, 0.45);
    cairo_set_line_width(c_.get(), 1.5);
    cairo_move_to(c_.get(), x0, y0);
    cairo_curve_to(c_.get(), x0, y0 + kDown / 2, x1, y1 - kDown / 2, x1, y1 - 5);
    cairo_stroke(c_.get());
    cairo_move_to(c_.get(), x1, y1);
    cairo_line_to(c_.get(), x1 - 4, y1 - 8);
    cairo_line_to(c_.get(), x1 + 4, y1 - 8);
    cairo_close_path(c_.get());
    cairo_fill(c_.get());
  }
  void box(const GraphNode& n, double x, double y) {
    cairo_rectangle(c_.get(), x - kWidth / 2, y - kHeight / 2, kWidth, kHeight);
    cairo_set_source_rgb(c_.get(), 0.95, 0.96 - 0.35 * n.share, 0.98 - 0.75 * n.share);
    cairo_fill_preserve(c_.get());
    if (n.bottleneck)
      cairo_set_source_rgb(c_.get(), 0.8, 0.2, 0.1);
    else
      cairo_set_source_rgb(c_.get(), 0.55, 0.6, 0.65);
    cairo_set_line_width(c_.get(), n.bottleneck ? 3 : 1);
    cairo_stroke(c_.get());
    double line = y - kHeight / 2 + 18;
    double size = 12.5;
    for (const std::string& words : lines_of(n)) {
      text(words, x, line, size);
      line += 17;
      size = 10.5;
    }
  }
  bool good() const { return cairo_status(c_.get()) == CAIRO_STATUS_SUCCESS; }

 private:
  void text(const std::string& words, double x, double y, double size) {
    cairo_text_extents_t e;
    cairo_set_source_rgb(c_.get(), 0.15, 0.15, 0.15);
    cairo_set_font_size(c_.get(), size);
    cairo_text_extents(c_.get(), words.c_str(), &e);
    cairo_move_to(c_.get(), x - e.x_advance / 2, y);
    cairo_show_text(c_.get(), words.c_str());
  }
  std::unique_ptr<cairo_t, decltype(&cairo_destroy)> c_;
};

cairo_status_t append(void* out, const unsigned char* bytes, unsigned size) {
  static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), size);
  return CAIRO_STATUS_SUCCESS;
}

void paint(cairo_surface_t* surface, const std::vector<GraphNode>& nodes, const Layout& at) {
  Painter painter(surface);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (std::size_t input : nodes[i].inputs)
      painter.arrow(at.x[input], at.y[input] + kHeight / 2, at.x[i], at.y[i] - kHeight / 2);
  for (std::size_t i = 0; i < nodes.size(); ++i) painter.box(nodes[i], at.x[i], at.y[i]);
  STRATA_CHECK(painter.good(), "cairo could not draw {} boxes", nodes.size());
}

using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;

}  // namespace

std::string graph_svg(const std::vector<GraphNode>& nodes) {
  const Layout at = layout_of(nodes);
  std::string out;
  {
    const Surface surface(cairo_svg_surface_create_for_stream(append, &out, at.width, at.height),
                          cairo_surface_destroy);
    paint(surface.get(), nodes, at);
    cairo_surface_finish(surface.get());
  }
  return out;
}

std::string graph_png(const std::vector<GraphNode>& nodes) {
  const Layout at = layout_of(nodes);
  const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(at.width),
                                                   static_cast<int>(at.height)),
                        cairo_surface_destroy);
  paint(surface.get(), nodes, at);
  std::string out;
  const cairo_status_t status = cairo_surface_write_to_png_stream(surface.get(), append, &out);
  STRATA_CHECK(status == CAIRO_STATUS_SUCCESS, "cairo: {}", cairo_status_to_string(status));
  return out;
}

Status write_graph_picture(const std::vector<GraphNode>& nodes, const std::string& path) {
  return write_file_atomic(path, path.ends_with(".svg") ? graph_svg(nodes) : graph_png(nodes));
}

}  // namespace strata::train
