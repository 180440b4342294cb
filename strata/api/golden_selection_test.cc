// How the functions of numpy/nonzero.h, selection.h and histograms.h are called.
#include <nlohmann/json.hpp>

#include "strata/api/golden.h"

namespace strata {
namespace {

using testing::Call;

numpy::Sized sized(const Call& c) {
  return {.size = c.maybe("size"), .fill_value = c.array("fill_value")};
}

STRATA_GOLDEN("numpy.nonzero", numpy::nonzero(c.x(0), sized(c)));
STRATA_GOLDEN("numpy.flatnonzero", numpy::flatnonzero(c.x(0), sized(c)));
STRATA_GOLDEN("numpy.argwhere", numpy::argwhere(c.x(0), sized(c)));
STRATA_GOLDEN("numpy.compress", numpy::compress(c.x(0), c.x(1), c.maybe("axis"), sized(c)));
STRATA_GOLDEN("numpy.extract", numpy::extract(c.x(0), c.x(1), sized(c)));
STRATA_GOLDEN("numpy.mask_indices",
              numpy::mask_indices(
                  c.integer("n"), [](const Array& x, std::int64_t k) { return numpy::triu(x, k); },
                  c.integer("k"), sized(c)));
STRATA_GOLDEN("numpy.trim_zeros", numpy::trim_zeros(c.x(0), c.text("trim", "fb"), c.axes()));

STRATA_GOLDEN("numpy.choose", numpy::choose(c.x(0), c.from(1), c.text("mode", "raise")));
std::vector<Array> half(const Call& c, bool second) {
  const auto middle = c.all().begin() + static_cast<std::ptrdiff_t>(c.count() / 2);
  return second ? std::vector<Array>(middle, c.all().end())
                : std::vector<Array>(c.all().begin(), middle);
}
STRATA_GOLDEN("numpy.select",
              numpy::select(half(c, false), half(c, true), c.array("default").value_or(Array(0))));
std::vector<numpy::Piece> pieces(std::size_t conditions) {
  std::vector<numpy::Piece> all{-1, [](const Array& v) { return v * v; }, 3};
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(conditions) + 1, all.end());
  return all;
}
STRATA_GOLDEN("numpy.piecewise", numpy::piecewise(c.x(0), c.from(1), pieces(c.count() - 1)));
STRATA_GOLDEN("numpy.put_along_axis",
              numpy::put_along_axis(c.x(0), c.x(1), c.x(2), c.maybe("axis")));
STRATA_GOLDEN("numpy.ravel_multi_index", numpy::ravel_multi_index(c.all(), c.integers("dims"),
                                                                  {.mode = c.text("mode", "raise"),
                                                                   .order = c.text("order", "C"),
                                                                   .dtype = c.dtype()}));
STRATA_GOLDEN("numpy.unravel_index", numpy::unravel_index(c.x(0), c.integers("shape")));
STRATA_GOLDEN("numpy.ix_", numpy::ix_(c.all()));

STRATA_GOLDEN("numpy.bincount", numpy::bincount(c.x(0), {.weights = c.array("weights"),
                                                         .minlength = c.integer("minlength"),
                                                         .length = c.maybe("length")}));
std::vector<numpy::Bins> bins(const Call& c) {
  if (!c.has("bins")) return {10};
  if (c.option("bins").is_string()) return {*c.array("bins")};
  const std::vector<std::int64_t> counts = c.integers("bins");
  return {counts.begin(), counts.end()};
}
numpy::Range range(const Call& c) {
  if (!c.has("range")) return std::nullopt;
  return std::array<Array, 2>{Array(c.option("range")[0].get<double>()),
                              Array(c.option("range")[1].get<double>())};
}
STRATA_GOLDEN("numpy.histogram_bin_edges",
              numpy::histogram_bin_edges(c.x(0), bins(c)[0], range(c)));
STRATA_GOLDEN("numpy.histogram", numpy::histogram(c.x(0), bins(c)[0],
                                                  {.range = range(c),
                                                   .weights = c.array("weights"),
                                                   .density = c.flag("density")}));
std::vector<Array> histogramdd(const Call& c) {
  auto [counts, edges] = numpy::histogramdd(
      c.x(0), bins(c), {.weights = c.array("weights"), .density = c.flag("density")});
  edges.insert(edges.begin(), counts);
  return edges;
}
STRATA_GOLDEN("numpy.histogramdd", histogramdd(c));
STRATA_GOLDEN("numpy.histogram2d",
              numpy::histogram2d(c.x(0), c.x(1), bins(c), {.density = c.flag("density")}));

}  // namespace
}  // namespace strata
