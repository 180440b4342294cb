// How the functions of numpy/sets.h are called, and the parts of sorting.h and integers.h that are
// tested beside them.
#include "strata/api/golden.h"

namespace strata {
namespace {

using testing::Call;

numpy::Unique options(const Call& c) {
  return {.axis = c.maybe("axis"),
          .equal_nan = c.has("equal_nan") ? std::optional(c.flag("equal_nan")) : std::nullopt,
          .size = c.maybe("size"),
          .fill_value = c.array("fill_value")};
}
std::vector<Array> all(const numpy::UniqueAll& u) {
  return {u.values, u.indices, u.inverse_indices, u.counts};
}
std::vector<Array> counts(const numpy::UniqueCounts& u) { return {u.values, u.counts}; }
std::vector<Array> inverse(const numpy::UniqueInverse& u) { return {u.values, u.inverse_indices}; }
STRATA_GOLDEN("numpy.unique", numpy::unique(c.x(0), options(c)));
STRATA_GOLDEN("numpy.unique_values", numpy::unique_values(c.x(0), options(c)));
STRATA_GOLDEN("numpy.unique_all", all(numpy::unique_all(c.x(0), options(c))));
STRATA_GOLDEN("numpy.unique_counts", counts(numpy::unique_counts(c.x(0), options(c))));
STRATA_GOLDEN("numpy.unique_inverse", inverse(numpy::unique_inverse(c.x(0), options(c))));

STRATA_GOLDEN("numpy.isin",
              numpy::isin(c.x(0), c.x(1),
                          {.invert = c.flag("invert"), .method = c.text("method", "auto")}));
numpy::SetOptions set(const Call& c) {
  return {.assume_unique = c.flag("assume_unique"),
          .size = c.maybe("size"),
          .fill_value = c.array("fill_value")};
}
std::vector<Array> intersect(const Call& c) {
  if (!c.flag("return_indices")) return {numpy::intersect1d(c.x(0), c.x(1), set(c))};
  const numpy::Intersection i = numpy::intersect1d_indices(c.x(0), c.x(1), set(c));
  return {i.values, i.indices1, i.indices2};
}
STRATA_GOLDEN("numpy.intersect1d", intersect(c));
STRATA_GOLDEN("numpy.union1d", numpy::union1d(c.x(0), c.x(1), set(c)));
STRATA_GOLDEN("numpy.setdiff1d", numpy::setdiff1d(c.x(0), c.x(1), set(c)));
STRATA_GOLDEN("numpy.setxor1d", numpy::setxor1d(c.x(0), c.x(1), set(c)));

STRATA_GOLDEN("numpy.partition", numpy::partition(c.x(0), c.integer("kth"), c.integer("axis", -1)));
STRATA_GOLDEN("numpy.argpartition",
              numpy::argpartition(c.x(0), c.integer("kth"), c.integer("axis", -1)));
STRATA_GOLDEN("numpy.sort_complex", numpy::sort_complex(c.x(0)));
numpy::Bits bits(const Call& c) {
  return {
      .axis = c.maybe("axis"), .count = c.maybe("count"), .bitorder = c.text("bitorder", "big")};
}
STRATA_GOLDEN("numpy.packbits", numpy::packbits(c.x(0), bits(c)));
STRATA_GOLDEN("numpy.unpackbits", numpy::unpackbits(c.x(0), bits(c)));

}  // namespace
}  // namespace strata
