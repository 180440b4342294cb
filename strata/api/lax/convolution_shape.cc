// Dimension numbers and shapes of convolutions.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "strata/api/lax/convolution.h"
#include "strata/api/lax/convolution_padding.h"
#include "strata/api/lax/windows.h"
#include "strata/api/trace/compose.h"

namespace strata::lax {
namespace {

using internal::fail;
using internal::Ints;
using internal::Site;

/// The letters that are not these two.
std::set<char> spatial(const std::string& spec, const char* features) {
  std::set<char> out(spec.begin(), spec.end());
  out.erase(features[0]);
  out.erase(features[1]);
  return out;
}

void require_letters(const std::string& spec, const char* features) {
  for (int i : {0, 1})
    if (std::count(spec.begin(), spec.end(), features[i]) != 1)
      fail("conv_general_permutations", "\"{}\" has the letter {} once", spec, features[i]);
  if (std::set<char>(spec.begin(), spec.end()).size() != spec.size())
    fail("conv_general_permutations", "\"{}\" has a letter twice", spec);
}

/// Places of the two features, then of the spatial letters in the kernel's order.
Ints places(const std::string& spec, const char* features, const std::string& kernel) {
  Ints out{static_cast<std::int64_t>(spec.find(features[0])),
           static_cast<std::int64_t>(spec.find(features[1]))};
  for (char c : kernel)
    if (c != 'O' && c != 'I') out.push_back(static_cast<std::int64_t>(spec.find(c)));
  return out;
}

Ints taken(const Sizes& shape, const Ints& places) {
  Ints out;
  for (std::int64_t p : places) out.push_back(shape[static_cast<std::size_t>(p)]);
  return out;
}
/// The inverse.
Ints put(const Ints& values, const Ints& places) {
  Ints out(values.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    out[static_cast<std::size_t>(places[i])] = values[i];
  return out;
}
Ints from_second(const Ints& shape) { return {shape.begin() + 2, shape.end()}; }

void require_equal_ranks(const char* name, const Sizes& lhs, const Sizes& rhs) {
  if (lhs.size() != rhs.size() || lhs.size() < 2)
    fail(name, "input and kernel have equally many dimensions, two or more, got ({}) and ({})",
         fmt::join(lhs, ", "), fmt::join(rhs, ", "));
}

}  // namespace

ConvDimensionNumbers conv_general_permutations(const std::string& lhs, const std::string& rhs,
                                               const std::string& out, Where where) {
  Site site(where);
  require_letters(lhs, "NC");
  require_letters(rhs, "OI");
  require_letters(out, "NC");
  if (spatial(lhs, "NC") != spatial(rhs, "OI") || spatial(out, "NC") != spatial(rhs, "OI"))
    fail("conv_general_permutations", "\"{}\", \"{}\" and \"{}\" have different spatial letters",
         lhs, rhs, out);
  return {places(lhs, "NC", rhs), places(rhs, "OI", rhs), places(out, "NC", rhs)};
}

ConvDimensionNumbers conv_dimension_numbers(const Sizes& lhs_shape, const Sizes& rhs_shape,
                                            const ConvGeneralDilatedDimensionNumbers& d,
                                            Where where) {
  Site site(where);
  if (d.numbers()) return *d.numbers();
  require_equal_ranks("conv_dimension_numbers", lhs_shape, rhs_shape);
  if (d.letters()) {
    for (const std::string& spec : *d.letters())
      if (spec.size() != lhs_shape.size())
        fail("conv_dimension_numbers", "\"{}\" does not have {} letters", spec, lhs_shape.size());
    return conv_general_permutations((*d.letters())[0], (*d.letters())[1], (*d.letters())[2],
                                     where);
  }
  Ints all(lhs_shape.size());
  std::iota(all.begin(), all.end(), 0);
  return {all, all, all};
}

std::vector<std::int64_t> conv_shape_tuple(const Sizes& lhs_shape, const Sizes& rhs_shape,
                                           const Sizes& strides, const WindowPadding& pads,
                                           std::int64_t batch_group_count, Where where) {
  Site site(where);
  require_equal_ranks("conv_shape_tuple", lhs_shape, rhs_shape);
  if (batch_group_count < 1 || lhs_shape[0] % batch_group_count != 0)
    fail("conv_shape_tuple", "a batch of {} has no {} groups", lhs_shape[0], batch_group_count);
  const Ints space = from_second(lhs_shape), window = from_second(rhs_shape);
  const auto around = padtype_to_pads(space, window, strides, pads, where);
  for (std::size_t i = 0; i < space.size(); ++i)
    if (space[i] + around[i].first + around[i].second < 0)
      fail("conv_shape_tuple", "negative padding ({}, {}) is more than the size {}",
           around[i].first, around[i].second, space[i]);
  Ints out{lhs_shape[0] / batch_group_count, rhs_shape[0]};
  for (std::int64_t n : reduce_window_shape_tuple(space, window, strides, around, {}, {}, where))
    out.push_back(n);
  return out;
}

std::vector<std::int64_t> conv_general_shape_tuple(
    const Sizes& lhs_shape, const Sizes& rhs_shape, const Sizes& window_strides,
    const WindowPadding& padding, const ConvGeneralDilatedDimensionNumbers& dimension_numbers,
    Where where) {
  Site site(where);
  const ConvDimensionNumbers d =
      conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers, where);
  return put(conv_shape_tuple(taken(lhs_shape, d.lhs_spec), taken(rhs_shape, d.rhs_spec),
                              window_strides, padding, 1, where),
             d.out_spec);
}

std::vector<std::int64_t> conv_transpose_shape_tuple(
    const Sizes& lhs_shape, const Sizes& rhs_shape, const Sizes& window_strides,
    const WindowPadding& padding, const ConvGeneralDilatedDimensionNumbers& dimension_numbers,
    Where where) {
  Site site(where);
  const ConvDimensionNumbers d =
      conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers, where);
  const Ints lhs = taken(lhs_shape, d.lhs_spec), rhs = taken(rhs_shape, d.rhs_spec),
             window = from_second(rhs);
  const auto around = padding.name().empty()
                          ? padding.pairs()
                          : detail::transposed_padding(window, window_strides, padding);
  if (window_strides.size() != window.size() || around.size() != window.size())
    fail("conv_transpose_shape_tuple",
         "{} strides and {} paddings are given for {} spatial dimensions", window_strides.size(),
         around.size(), window.size());
  Ints out{lhs[0], rhs[0]};
  for (std::size_t i = 0; i < window.size(); ++i)
    out.push_back((lhs[i + 2] - 1) * window_strides[i] - window[i] + 2 + around[i].first +
                  around[i].second);
  return put(out, d.out_spec);
}

}  // namespace strata::lax
