// How the functions of numpy/polynomials.h, convolution.h and functional.h, and those of ops.h, are
// called.
#include <nlohmann/json.hpp>

#include "strata/api/golden.h"

namespace strata {
namespace {

using testing::Call;

numpy::Convolve slid(const testing::Call& c) {
  return {.precision =
              c.text("precision") == "highest" ? lax::Precision::HIGHEST : lax::Precision::DEFAULT,
          .preferred_element_type = c.dtype("preferred_element_type")};
}
STRATA_GOLDEN("numpy.convolve", numpy::convolve(c.x(0), c.x(1), c.text("mode", "full"), slid(c)));
STRATA_GOLDEN("numpy.correlate",
              numpy::correlate(c.x(0), c.x(1), c.text("mode", "valid"), slid(c)));
STRATA_GOLDEN("numpy.poly", numpy::poly(c.x(0)));
STRATA_GOLDEN("numpy.polyadd", numpy::polyadd(c.x(0), c.x(1)));
STRATA_GOLDEN("numpy.polysub", numpy::polysub(c.x(0), c.x(1)));
STRATA_GOLDEN("numpy.polymul", numpy::polymul(c.x(0), c.x(1), c.flag("trim_leading_zeros")));
STRATA_GOLDEN("numpy.polydiv", numpy::polydiv(c.x(0), c.x(1), c.flag("trim_leading_zeros")));
STRATA_GOLDEN("numpy.polyder", numpy::polyder(c.x(0), c.integer("m", 1)));
STRATA_GOLDEN("numpy.polyint", numpy::polyint(c.x(0), c.integer("m", 1), c.operand("k")));
STRATA_GOLDEN("numpy.polyval", numpy::polyval(c.x(0), c.x(1)));

std::vector<Array> polyfit(const Call& c) {
  const numpy::Polyfit options{
      .rcond = c.has("rcond") ? std::optional(c.number("rcond")) : std::nullopt, .w = c.array("w")};
  const std::int64_t deg = c.integer("deg");
  if (c.flag("full")) return tree::leaves<Array>(numpy::polyfit_full(c.x(0), c.x(1), deg, options));
  if (c.has("cov"))
    return testing::listed(
        numpy::polyfit_cov(c.x(0), c.x(1), deg, options, c.option("cov").is_string()));
  return {numpy::polyfit(c.x(0), c.x(1), deg, options)};
}
STRATA_GOLDEN("numpy.polyfit", polyfit(c));
/// In an order, for their own has no meaning.
Array roots(const Call& c) {
  const Array found = numpy::roots(c.x(0), c.flag("strip_zeros", true));
  return found.size() == 0 ? found : numpy::sort_complex(found);
}
STRATA_GOLDEN("numpy.roots", roots(c));

std::optional<numpy::Beyond> beyond(const Call& c, const char* name) {
  if (!c.has(name)) return std::nullopt;
  return c.option(name).is_string() ? numpy::Beyond(c.text(name).c_str())
                                    : numpy::Beyond(c.number(name));
}
STRATA_GOLDEN("numpy.interp", numpy::interp(c.x(0), c.x(1), c.x(2),
                                            {.left = beyond(c, "left"),
                                             .right = beyond(c, "right"),
                                             .period = c.array("period")}));
STRATA_GOLDEN("numpy.unwrap", numpy::unwrap(c.x(0), {.discont = c.array("discont"),
                                                     .axis = c.integer("axis", -1),
                                                     .period = c.array("period")}));
STRATA_GOLDEN("numpy.cross", numpy::cross(c.x(0), c.x(1),
                                          {.axisa = c.integer("axisa", -1),
                                           .axisb = c.integer("axisb", -1),
                                           .axisc = c.integer("axisc", -1),
                                           .axis = c.maybe("axis")}));
STRATA_GOLDEN("numpy.block", numpy::block({{c.x(0), c.x(1)}, {c.x(1), c.x(0)}}));

STRATA_GOLDEN(
    "numpy.apply_along_axis",
    numpy::apply_along_axis([](const Array& v) { return numpy::stack({v[0], v[-1] + 1}); },
                            c.integer("axis"), c.x(0)));
STRATA_GOLDEN("numpy.apply_over_axes",
              numpy::apply_over_axes([](const Array& x,
                                        std::int64_t axis) { return numpy::sum(x, axis); },
                                     c.x(0), c.integers("axes")));
Array fromfunction(const Call& c) {
  const std::vector<std::int64_t> shape = c.integers("shape");
  return numpy::fromfunction([](const Array& i, const Array& j) { return i * 10 + j; },
                             {shape[0], shape[1]}, c.dtype().value_or(float32));
}
STRATA_GOLDEN("numpy.fromfunction", fromfunction(c));
std::vector<numpy::GridRange> ranges(const Call& c) {
  std::vector<numpy::GridRange> out;
  for (const auto& stop : c.option("stop")) {
    if (stop.is_number_integer())
      out.emplace_back(std::int64_t{0}, stop.get<std::int64_t>());
    else
      out.emplace_back(0.0, stop.get<double>());
  }
  return out;
}
STRATA_GOLDEN("numpy.mgrid", numpy::mgrid(ranges(c)));
STRATA_GOLDEN("numpy.ogrid", numpy::ogrid(ranges(c)));
STRATA_GOLDEN("numpy.astype", numpy::astype(c.x(0), *c.dtype()));

ops::Segments segments(const Call& c) {
  return {.num_segments = c.maybe("num_segments"),
          .indices_are_sorted = c.flag("indices_are_sorted"),
          .bucket_size = c.maybe("bucket_size")};
}
STRATA_GOLDEN("ops.segment_sum", ops::segment_sum(c.x(0), c.x(1), segments(c)));
STRATA_GOLDEN("ops.segment_prod", ops::segment_prod(c.x(0), c.x(1), segments(c)));
STRATA_GOLDEN("ops.segment_max", ops::segment_max(c.x(0), c.x(1), segments(c)));
STRATA_GOLDEN("ops.segment_min", ops::segment_min(c.x(0), c.x(1), segments(c)));

}  // namespace
}  // namespace strata
