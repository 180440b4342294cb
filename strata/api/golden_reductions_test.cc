// How the functions of numpy/reductions.h are called.
#include "strata/api/golden_options.h"

namespace strata {
namespace {

using testing::Call;
using testing::cumulative;
using testing::position;
using testing::variance;

STRATA_REDUCTION(sum);
STRATA_REDUCTION(prod);
STRATA_REDUCTION(mean);
STRATA_REDUCTION(max);
STRATA_REDUCTION(min);
STRATA_REDUCTION(amax);
STRATA_REDUCTION(amin);
STRATA_REDUCTION(any);
STRATA_REDUCTION(all);
STRATA_REDUCTION(ptp);
STRATA_REDUCTION(count_nonzero);

STRATA_GOLDEN("numpy.var", numpy::var(c.x(0), variance(c)));
STRATA_GOLDEN("numpy.std", numpy::std_(c.x(0), variance(c)));

STRATA_GOLDEN("numpy.argmax", numpy::argmax(c.x(0), position(c)));
STRATA_GOLDEN("numpy.argmin", numpy::argmin(c.x(0), position(c)));

STRATA_GOLDEN("numpy.cumsum", numpy::cumsum(c.x(0), cumulative(c)));
STRATA_GOLDEN("numpy.cumprod", numpy::cumprod(c.x(0), cumulative(c)));
numpy::CumulativeArray cumulative_array(const Call& c) {
  return {
      .axis = c.maybe("axis"), .dtype = c.dtype(), .include_initial = c.flag("include_initial")};
}
STRATA_GOLDEN("numpy.cumulative_sum", numpy::cumulative_sum(c.x(0), cumulative_array(c)));
STRATA_GOLDEN("numpy.cumulative_prod", numpy::cumulative_prod(c.x(0), cumulative_array(c)));

}  // namespace
}  // namespace strata
