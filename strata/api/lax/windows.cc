#include "strata/api/lax/windows.h"

#include <algorithm>

#include "strata/api/lax/reductions.h"
#include "strata/api/trace/compose.h"

namespace strata::lax {
namespace {

using internal::Builder;
using internal::describe;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::Values;
using Pads = std::vector<std::pair<std::int64_t, std::int64_t>>;

Ints or_ones(const char* name, const char* what, const Sizes& given, std::size_t rank) {
  if (given.size() == 0) return Ints(rank, 1);
  if (given.size() != rank)
    fail(name, "{} has {} entries for {} dimensions", what, given.size(), rank);
  for (std::int64_t v : given)
    if (v < 1) fail(name, "{} are at least 1, got {}", what, v);
  return given.get();
}

Ints dilated(const Ints& sizes, const Ints& by) {
  Ints out;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    out.push_back(sizes[i] == 0 ? 0 : 1 + by[i] * (sizes[i] - 1));
  return out;
}

std::int64_t windows_in(std::int64_t size, std::int64_t window, std::int64_t stride) {
  return size < window ? 0 : (size - window) / stride + 1;
}

}  // namespace

Pads padtype_to_pads(const Sizes& in_shape, const Sizes& window_shape, const Sizes& window_strides,
                     const WindowPadding& padding, Where where) {
  Site site(where);
  const std::size_t rank = in_shape.size();
  if (padding.name().empty()) {
    if (padding.pairs().size() != rank)
      fail("padtype_to_pads", "{} paddings are given for {} dimensions", padding.pairs().size(),
           rank);
    return padding.pairs();
  }
  std::string name = padding.name();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (name == "VALID") return Pads(rank, {0, 0});
  if (name != "SAME" && name != "SAME_LOWER")
    fail("padtype_to_pads", "padding is \"SAME\", \"SAME_LOWER\" or \"VALID\", got \"{}\"",
         padding.name());
  if (window_shape.size() != rank || window_strides.size() != rank)
    fail("padtype_to_pads", "{} windows and {} strides are given for {} dimensions",
         window_shape.size(), window_strides.size(), rank);
  Pads out;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t steps = (in_shape[i] + window_strides[i] - 1) / window_strides[i];
    const std::int64_t added =
        std::max<std::int64_t>((steps - 1) * window_strides[i] + window_shape[i] - in_shape[i], 0);
    out.emplace_back(added / 2, added - added / 2);
    if (name == "SAME_LOWER") std::swap(out.back().first, out.back().second);
  }
  return out;
}

std::vector<std::int64_t> reduce_window_shape_tuple(const Sizes& operand_shape,
                                                    const Sizes& window_dimensions,
                                                    const Sizes& window_strides,
                                                    const WindowPadding& padding,
                                                    const Sizes& base_dilation,
                                                    const Sizes& window_dilation, Where where) {
  Site site(where);
  const char* name = "reduce_window_shape_tuple";
  const std::size_t rank = operand_shape.size();
  if (window_dimensions.size() != rank)
    fail(name, "windows have {} dimensions, the array {}", window_dimensions.size(), rank);
  const Ints strides = or_ones(name, "window_strides", window_strides, rank);
  const Ints base = dilated(operand_shape, or_ones(name, "base_dilation", base_dilation, rank));
  const Ints window =
      dilated(window_dimensions, or_ones(name, "window_dilation", window_dilation, rank));
  const Pads pads = padtype_to_pads(base, window, strides, padding);
  Ints out;
  for (std::size_t i = 0; i < rank; ++i)
    out.push_back(windows_in(base[i] + pads[i].first + pads[i].second, window[i], strides[i]));
  return out;
}

namespace detail {

std::vector<Array> reduce_window(const Folded& what, const Sizes& window_dimensions,
                                 const ReduceWindow& options) {
  const Array& x = what.operands[0];
  const auto rank = static_cast<std::size_t>(x.ndim());
  if (window_dimensions.size() != rank)
    fail(what.name, "windows have {} dimensions: {}", window_dimensions.size(), describe(x.type()));
  const Ints window = or_ones(what.name, "window_dimensions", window_dimensions, rank),
             strides = or_ones(what.name, "window_strides", options.window_strides, rank);
  const Ints base = or_ones(what.name, "base_dilation", options.base_dilation, rank),
             spread = or_ones(what.name, "window_dilation", options.window_dilation, rank);
  Ints padding;
  for (auto [low, high] :
       padtype_to_pads(x.shape(), dilated(window, spread), strides, options.padding))
    padding.insert(padding.end(), {low, high});
  return internal::emit(internal::joined(what.operands, what.initial),
                        [&](Builder& b, const Values& v) {
                          auto [combiner, regions] = combination(what);
                          return b
                              .create("stablehlo.reduce_window", v,
                                      {{"window_dimensions", window},
                                       {"window_strides", strides},
                                       {"base_dilations", base},
                                       {"window_dilations", spread},
                                       {"padding", padding},
                                       {"combiner", combiner}},
                                      std::move(regions))
                              .results();
                        });
}

}  // namespace detail

}  // namespace strata::lax
