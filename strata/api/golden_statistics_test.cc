// How the functions of numpy/statistics.h and sorting.h are called.
#include "strata/api/golden_options.h"
#include "strata/api/numpy/index/sorting.h"
#include "strata/api/numpy/statistics.h"

namespace strata {
namespace {

using testing::Call;
using testing::cumulative;
using testing::position;
using testing::variance;

STRATA_REDUCTION(nansum);
STRATA_REDUCTION(nanprod);
STRATA_REDUCTION(nanmax);
STRATA_REDUCTION(nanmin);
STRATA_REDUCTION(nanmean);
STRATA_REDUCTION(median);
STRATA_REDUCTION(nanmedian);

STRATA_GOLDEN("numpy.nanvar", numpy::nanvar(c.x(0), variance(c)));
STRATA_GOLDEN("numpy.nanstd", numpy::nanstd(c.x(0), variance(c)));
STRATA_GOLDEN("numpy.nanargmax", numpy::nanargmax(c.x(0), position(c)));
STRATA_GOLDEN("numpy.nanargmin", numpy::nanargmin(c.x(0), position(c)));
STRATA_GOLDEN("numpy.nancumsum", numpy::nancumsum(c.x(0), cumulative(c)));
STRATA_GOLDEN("numpy.nancumprod", numpy::nancumprod(c.x(0), cumulative(c)));

STRATA_GOLDEN("numpy.average", numpy::average(c.x(0), {.axis = c.axes(),
                                                       .weights = c.array("weights"),
                                                       .keepdims = c.flag("keepdims")}));
numpy::Quantile quantile(const Call& c) {
  return {.axis = c.axes(), .method = c.text("method", "linear"), .keepdims = c.flag("keepdims")};
}
STRATA_GOLDEN("numpy.quantile", numpy::quantile(c.x(0), c.x(1), quantile(c)));
STRATA_GOLDEN("numpy.percentile", numpy::percentile(c.x(0), c.x(1), quantile(c)));
STRATA_GOLDEN("numpy.nanquantile", numpy::nanquantile(c.x(0), c.x(1), quantile(c)));
STRATA_GOLDEN("numpy.nanpercentile", numpy::nanpercentile(c.x(0), c.x(1), quantile(c)));

STRATA_GOLDEN("numpy.diff", numpy::diff(c.x(0), {.n = c.integer("n", 1),
                                                 .axis = c.integer("axis", -1),
                                                 .prepend = c.array("prepend"),
                                                 .append = c.array("append")}));
STRATA_GOLDEN("numpy.ediff1d", numpy::ediff1d(c.x(0), c.operand("to_end"), c.operand("to_begin")));
STRATA_GOLDEN("numpy.gradient", c.count() == 1 ? numpy::gradient(c.x(0), 1.0, c.axes())
                                               : numpy::gradient(c.x(0), c.x(1), c.axes()));
STRATA_GOLDEN("numpy.trapezoid", numpy::trapezoid(c.x(0), {.x = c.array("x"),
                                                           .dx = c.number("dx", 1),
                                                           .axis = c.integer("axis", -1)}));
numpy::Covariance covariance(const Call& c) {
  return {.y = c.count() > 1 ? std::optional(c.x(1)) : std::nullopt,
          .rowvar = c.flag("rowvar", true),
          .bias = c.flag("bias"),
          .ddof = c.maybe("ddof"),
          .fweights = c.array("fweights"),
          .aweights = c.array("aweights")};
}
STRATA_GOLDEN("numpy.cov", numpy::cov(c.x(0), covariance(c)));
STRATA_GOLDEN("numpy.corrcoef", numpy::corrcoef(c.x(0), covariance(c)));

STRATA_GOLDEN("numpy.digitize", numpy::digitize(c.x(0), c.x(1), c.flag("right")));
STRATA_GOLDEN("numpy.searchsorted",
              numpy::searchsorted(c.x(0), c.x(1), c.text("side", "left"), c.operand("sorter")));
numpy::Sort sort(const Call& c) {
  return {.axis = c.maybe("axis", -1), .descending = c.flag("descending")};
}
STRATA_GOLDEN("numpy.sort", numpy::sort(c.x(0), sort(c)));
STRATA_GOLDEN("numpy.argsort", numpy::argsort(c.x(0), sort(c)));
STRATA_GOLDEN("numpy.lexsort", numpy::lexsort(c.all(), c.integer("axis", -1)));

}  // namespace
}  // namespace strata
