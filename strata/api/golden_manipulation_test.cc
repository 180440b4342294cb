// How the functions of numpy/manipulation.h, joining.h, diagonals.h and creation.h are called.
#include <nlohmann/json.hpp>

#include "strata/api/golden.h"

namespace strata {
namespace {

using testing::Call;

std::vector<std::int64_t> list(const Array& x) { return x.to_vector<std::int64_t>(); }

STRATA_GOLDEN("numpy.concatenate", numpy::concatenate(c.all(), c.maybe("axis", 0)));
STRATA_GOLDEN("numpy.concat", numpy::concat(c.all(), c.maybe("axis", 0)));
STRATA_GOLDEN("numpy.stack", numpy::stack(c.all(), c.integer("axis")));
STRATA_GOLDEN("numpy.vstack", numpy::vstack(c.all()));
STRATA_GOLDEN("numpy.hstack", numpy::hstack(c.all()));
STRATA_GOLDEN("numpy.dstack", numpy::dstack(c.all()));
STRATA_GOLDEN("numpy.column_stack", numpy::column_stack(c.all()));
STRATA_GOLDEN("numpy.append", numpy::append(c.x(0), c.x(1), c.maybe("axis")));

/// Parts by their number, or at indices.
#define STRATA_SPLIT(name, ...)                                                                    \
  STRATA_GOLDEN("numpy." #name, c.x(1).ndim() == 0                                                 \
                                    ? numpy::name(c.x(0), c.x(1).item<std::int64_t>() __VA_ARGS__) \
                                    : numpy::name(c.x(0), list(c.x(1)) __VA_ARGS__))
STRATA_SPLIT(split, , c.integer("axis"));
STRATA_SPLIT(array_split, , c.integer("axis"));
STRATA_SPLIT(hsplit);
STRATA_SPLIT(vsplit);
STRATA_SPLIT(dsplit);
STRATA_GOLDEN("numpy.unstack", numpy::unstack(c.x(0), c.integer("axis")));

STRATA_GOLDEN("numpy.reshape", numpy::reshape(c.x(0), c.integers("shape")));
STRATA_GOLDEN("numpy.ravel", numpy::ravel(c.x(0)));
STRATA_GOLDEN("numpy.transpose", numpy::transpose(c.x(0), c.integers("axes")));
STRATA_GOLDEN("numpy.permute_dims", numpy::permute_dims(c.x(0), c.integers("axes")));
STRATA_GOLDEN("numpy.matrix_transpose", numpy::matrix_transpose(c.x(0)));
STRATA_GOLDEN("numpy.swapaxes",
              numpy::swapaxes(c.x(0), c.x(1).item<std::int64_t>(), c.x(2).item<std::int64_t>()));
STRATA_GOLDEN("numpy.rollaxis",
              numpy::rollaxis(c.x(0), c.x(1).item<std::int64_t>(), c.x(2).item<std::int64_t>()));
STRATA_GOLDEN("numpy.moveaxis", numpy::moveaxis(c.x(0), list(c.x(1)), list(c.x(2))));
STRATA_GOLDEN("numpy.expand_dims", numpy::expand_dims(c.x(0), c.axes()));
STRATA_GOLDEN("numpy.squeeze", numpy::squeeze(c.x(0), c.axes()));
STRATA_GOLDEN("numpy.broadcast_to", numpy::broadcast_to(c.x(0), c.integers("shape")));
STRATA_GOLDEN("numpy.broadcast_arrays", numpy::broadcast_arrays(c.all()));
STRATA_GOLDEN("numpy.flip", numpy::flip(c.x(0), c.axes()));
STRATA_GOLDEN("numpy.fliplr", numpy::fliplr(c.x(0)));
STRATA_GOLDEN("numpy.flipud", numpy::flipud(c.x(0)));
STRATA_GOLDEN("numpy.rot90", numpy::rot90(c.x(0), c.integer("k", 1), c.integers("axes", {0, 1})));
STRATA_GOLDEN("numpy.roll", numpy::roll(c.x(0), list(c.x(1)), c.axes()));
STRATA_GOLDEN("numpy.repeat",
              numpy::repeat(c.x(0), list(c.x(1)), c.maybe("axis"), c.maybe("total_repeat_length")));
STRATA_GOLDEN("numpy.tile", numpy::tile(c.x(0), c.integers("reps")));
STRATA_GOLDEN("numpy.atleast_1d", numpy::atleast_1d(c.x(0)));
STRATA_GOLDEN("numpy.atleast_2d", numpy::atleast_2d(c.x(0)));
STRATA_GOLDEN("numpy.atleast_3d", numpy::atleast_3d(c.x(0)));
STRATA_GOLDEN("numpy.resize", numpy::resize(c.x(0), c.integers("new_shape")));

/// NumPy's short forms: one number for all sides, a pair for all axes.
std::vector<numpy::PadWidth> widths(const Array& w, int rank) {
  const std::vector<std::int64_t> all = list(w);
  if (w.ndim() == 0)
    return std::vector<numpy::PadWidth>(static_cast<std::size_t>(rank), {all[0], all[0]});
  if (w.ndim() == 1)
    return std::vector<numpy::PadWidth>(static_cast<std::size_t>(rank), {all[0], all[1]});
  std::vector<numpy::PadWidth> out;
  for (std::size_t i = 0; i < all.size(); i += 2) out.push_back({all[i], all[i + 1]});
  return out;
}
STRATA_GOLDEN("numpy.pad", numpy::pad(c.x(0), widths(c.x(1), c.x(0).ndim()),
                                      numpy::Pad{.mode = c.text("mode", "constant"),
                                                 .constant_values = c.array("constant_values"),
                                                 .end_values = c.array("end_values")}));

STRATA_GOLDEN("numpy.delete", numpy::delete_(c.x(0), list(c.x(1)), c.maybe("axis")));
std::vector<Array> insert(const Call& c) {
  if (c.x(1).ndim() == 0)
    return {numpy::insert(c.x(0), c.x(1).item<std::int64_t>(), c.x(2), c.maybe("axis"))};
  return {numpy::insert(c.x(0), list(c.x(1)), c.x(2), c.maybe("axis"))};
}
STRATA_GOLDEN("numpy.insert", insert(c));

numpy::Diagonal diagonal(const Call& c) {
  return {.offset = c.integer("offset"),
          .axis1 = c.integer("axis1", 0),
          .axis2 = c.integer("axis2", 1)};
}
STRATA_GOLDEN("numpy.diag", numpy::diag(c.x(0), c.integer("k")));
STRATA_GOLDEN("numpy.diagflat", numpy::diagflat(c.x(0), c.integer("k")));
STRATA_GOLDEN("numpy.diagonal", numpy::diagonal(c.x(0), diagonal(c)));
STRATA_GOLDEN("numpy.trace", numpy::trace(c.x(0), diagonal(c), c.dtype()));
STRATA_GOLDEN("numpy.tril", numpy::tril(c.x(0), c.integer("k")));
STRATA_GOLDEN("numpy.triu", numpy::triu(c.x(0), c.integer("k")));
STRATA_GOLDEN("numpy.tril_indices",
              numpy::tril_indices(c.integer("n"), c.integer("k"), c.maybe("m")));
STRATA_GOLDEN("numpy.triu_indices",
              numpy::triu_indices(c.integer("n"), c.integer("k"), c.maybe("m")));
STRATA_GOLDEN("numpy.tril_indices_from", numpy::tril_indices_from(c.x(0), c.integer("k")));
STRATA_GOLDEN("numpy.triu_indices_from", numpy::triu_indices_from(c.x(0), c.integer("k")));
STRATA_GOLDEN("numpy.diag_indices", numpy::diag_indices(c.integer("n"), c.integer("ndim", 2)));
STRATA_GOLDEN("numpy.diag_indices_from", numpy::diag_indices_from(c.x(0)));
STRATA_GOLDEN("numpy.fill_diagonal", numpy::fill_diagonal(c.x(0), c.x(1)));

STRATA_GOLDEN("numpy.zeros", numpy::zeros(c.integers("shape"), c.dtype().value_or(float32)));
STRATA_GOLDEN("numpy.ones", numpy::ones(c.integers("shape"), c.dtype().value_or(float32)));
STRATA_GOLDEN("numpy.empty", numpy::empty(c.integers("shape"), c.dtype().value_or(float32)));
std::optional<Sizes> shape(const Call& c) {
  return c.has("shape") ? std::optional<Sizes>(c.integers("shape")) : std::nullopt;
}
STRATA_GOLDEN("numpy.zeros_like", numpy::zeros_like(c.x(0), c.dtype(), shape(c)));
STRATA_GOLDEN("numpy.ones_like", numpy::ones_like(c.x(0), c.dtype(), shape(c)));
STRATA_GOLDEN("numpy.empty_like", numpy::empty_like(c.x(0), c.dtype(), shape(c)));
STRATA_GOLDEN("numpy.full", numpy::full(c.integers("shape"), c.x(0), c.dtype()));
STRATA_GOLDEN("numpy.full_like", numpy::full_like(c.x(0), c.x(1), c.dtype(), shape(c)));

Array arange(const Call& c) {
  const bool floats =
      c.option("start").is_number_float() || (c.has("stop") && c.option("stop").is_number_float());
  const double start = c.has("stop") ? c.number("start") : 0,
               stop = c.has("stop") ? c.number("stop") : c.number("start"),
               step = c.number("step", 1);
  if (floats) return numpy::arange(start, stop, step, c.dtype());
  return numpy::arange(static_cast<std::int64_t>(start), static_cast<std::int64_t>(stop),
                       static_cast<std::int64_t>(step), c.dtype());
}
STRATA_GOLDEN("numpy.arange", arange(c));
numpy::Spacing spacing(const Call& c) {
  return {.endpoint = c.flag("endpoint", true), .dtype = c.dtype()};
}
STRATA_GOLDEN("numpy.linspace",
              numpy::linspace(c.number("start"), c.number("stop"), c.integer("num"), spacing(c)));
STRATA_GOLDEN("numpy.logspace",
              numpy::logspace(c.number("start"), c.number("stop"), c.integer("num"), spacing(c),
                              c.number("base", 10)));
STRATA_GOLDEN("numpy.geomspace",
              numpy::geomspace(c.number("start"), c.number("stop"), c.integer("num"), spacing(c)));
STRATA_GOLDEN("numpy.eye", numpy::eye(c.integer("N"), c.maybe("M"), c.integer("k"),
                                      c.dtype().value_or(float32)));
STRATA_GOLDEN("numpy.identity", numpy::identity(c.integer("n"), c.dtype().value_or(float32)));
STRATA_GOLDEN("numpy.tri", numpy::tri(c.integer("N"), c.maybe("M"), c.integer("k"),
                                      c.dtype().value_or(float32)));
std::vector<Array> indices(const Call& c) {
  const DType dtype = c.dtype().value_or(int32);
  if (c.flag("sparse")) return numpy::sparse_indices(c.integers("dimensions"), dtype);
  return {numpy::indices(c.integers("dimensions"), dtype)};
}
STRATA_GOLDEN("numpy.indices", indices(c));
STRATA_GOLDEN("numpy.meshgrid", numpy::meshgrid(c.all(), {.indexing = c.text("indexing", "xy"),
                                                          .sparse = c.flag("sparse")}));
STRATA_GOLDEN("numpy.vander", numpy::vander(c.x(0), c.maybe("N"), c.flag("increasing")));
STRATA_GOLDEN("numpy.bartlett", numpy::bartlett(c.integer("M")));
STRATA_GOLDEN("numpy.blackman", numpy::blackman(c.integer("M")));
STRATA_GOLDEN("numpy.hamming", numpy::hamming(c.integer("M")));
STRATA_GOLDEN("numpy.hanning", numpy::hanning(c.integer("M")));
STRATA_GOLDEN("numpy.kaiser", numpy::kaiser(c.integer("M"), c.number("beta")));

}  // namespace
}  // namespace strata
