// take_along_axis of numpy/indexing.h.
#include <algorithm>

#include "strata/api/lax/gather.h"
#include "strata/api/nn/functions.h"
#include "strata/api/numpy/index/indexing.h"
#include "strata/api/numpy/products.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/trace/compose.h"
#include "strata/api/trace/integer_index.h"

namespace strata::numpy {

using internal::describe;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::sizes;

namespace {
/// x at places along an axis, all of one shape but for that axis, as a product with ones and zeros.
Array by_products(const Array& x, const Array& places, int dim) {
  constexpr int kLetters = 50;  // 'z' and 'y' stand for the axis
  if (x.ndim() > kLetters)
    fail("take_along_axis", "mode \"one_hot\" is for {} axes, got {}", kLetters,
         describe(x.type()));
  std::string of_x, of_places;
  for (int d = 0; d < x.ndim(); ++d) {
    const char letter = static_cast<char>(d < 24 ? 'a' + d : 'A' + d - 24);
    of_x += d == dim ? 'z' : letter;
    of_places += d == dim ? 'y' : letter;
  }
  const Array ones = nn::one_hot(places, x.shape(dim), bool_);
  return einsum(fmt::format("{}z,{}->{}", of_places, of_x, of_places), {ones, x},
                {.preferred_element_type = x.dtype()});
}
}  // namespace

Array take_along_axis(const Operand& operand, const Operand& indices,
                      std::optional<std::int64_t> axis, const TakeAlongAxis& options) {
  Site site(operand);
  const Array x = axis ? operand.array : ravel(operand);
  if (!is_integer(indices->dtype()))
    fail("take_along_axis", "indices are integers, got {}", describe(indices->type()));
  if (indices->ndim() != x.ndim())
    fail("take_along_axis", "{} and indices {} have different numbers of axes", describe(x.type()),
         describe(indices->type()));
  const int dim = internal::axis_of("take_along_axis", axis.value_or(0), x.ndim());
  Ints batch, xs = sizes(x), is = sizes(indices), slices(xs.size(), 1);
  for (int d = 0; d < x.ndim(); ++d) {
    if (d == dim) continue;
    batch.push_back(d);
    std::int64_t &a = xs[static_cast<std::size_t>(d)], &b = is[static_cast<std::size_t>(d)];
    if (a != b && a != 1 && b != 1)
      fail("take_along_axis", "{} and indices {} do not broadcast", describe(x.type()),
           describe(indices->type()));
    a = b = a == 1 ? b : a;
    slices[static_cast<std::size_t>(d)] = std::min<std::int64_t>(a, 1);
  }
  const std::int64_t size = xs[static_cast<std::size_t>(dim)];
  if (size == 0) return zeros(is, x.dtype());
  const lax::GatherScatterMode mode =
      lax::detail::mode_of("take_along_axis", options.mode, lax::GatherScatterMode::FILL_OR_DROP);
  const bool from_end =
      options.wrap_negative_indices.value_or(mode != lax::GatherScatterMode::PROMISE_IN_BOUNDS);
  const Array places = broadcast_to(
      from_end ? internal::index_from_end(indices, size) : internal::as_index(indices, size), is);
  if (mode == lax::GatherScatterMode::ONE_HOT) return by_products(broadcast_to(x, xs), places, dim);
  return lax::gather(broadcast_to(x, xs), expand_dims(places, -1),
                     {.offset_dims = {},
                      .collapsed_slice_dims = {dim},
                      .start_index_map = {dim},
                      .operand_batching_dims = batch,
                      .start_indices_batching_dims = batch},
                     slices, {.mode = mode, .fill_value = options.fill_value});
}

}  // namespace strata::numpy
