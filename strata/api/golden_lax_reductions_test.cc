// How reductions, running ones and sorts of lax.h are called.
#include <nlohmann/json.hpp>

#include "strata/api/golden.h"
#include "strata/api/lax/scan.h"
#include "strata/api/lax/windows.h"

namespace strata {
namespace {

#define STRATA_REDUCTION(name) STRATA_GOLDEN("lax." #name, lax::name(c.x(0), c.integers("axes")))
#define STRATA_POSITION(name) \
  STRATA_GOLDEN("lax." #name, lax::name(c.x(0), c.integer("axis"), *c.dtype("index_dtype")))
#define STRATA_RUNNING(name) \
  STRATA_GOLDEN("lax." #name, lax::name(c.x(0), c.integer("axis"), c.flag("reverse")))

/// The functions that the goldens know by name.
using Function = Array (*)(const Array&, const Array&);
Function function_of(const testing::Call& c) {
  static const std::map<std::string, Function> functions = {
      {"add", [](const Array& x, const Array& y) { return lax::add(x, y); }},
      {"mul", [](const Array& x, const Array& y) { return lax::mul(x, y); }},
      {"max", [](const Array& x, const Array& y) { return lax::max(x, y); }},
      {"min", [](const Array& x, const Array& y) { return lax::min(x, y); }},
      {"or", [](const Array& x, const Array& y) { return lax::bitwise_or(x, y); }},
      {"norm", [](const Array& x, const Array& y) { return sqrt(x * x + y * y); }},
      {"logaddexp", [](const Array& x, const Array& y) { return logaddexp(x, y); }},
  };
  return functions.at(c.text("function"));
}
lax::WindowPadding padding_of(const testing::Call& c) {
  if (!c.has("padding")) return "VALID";
  if (c.option("padding").is_string()) return c.text("padding");
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const auto& p : c.option("padding")) pairs.emplace_back(p[0], p[1]);
  return pairs;
}
Array pads_of(const testing::Call& c) {
  std::vector<std::int64_t> flat;
  for (auto [low, high] : lax::padtype_to_pads(c.integers("in_shape"), c.integers("window_shape"),
                                               c.integers("window_strides"), padding_of(c)))
    flat.insert(flat.end(), {low, high});
  return lax::shape_as_value(flat).reshape({-1, 2});
}
std::vector<Array> scanned(const testing::Call& c) {
  const lax::AssociativeScan options{.reverse = c.flag("reverse"), .axis = c.integer("axis")};
  if (c.count() == 1) return {lax::associative_scan(function_of(c), c.x(0), options)};
  using Affine = std::pair<Array, Array>;
  return testing::listed(lax::associative_scan(
      [](const Affine& x, const Affine& y) {
        return Affine(x.first * y.first, x.second * y.first + y.second);
      },
      Affine(c.x(0), c.x(1)), options));
}
std::vector<Array> sorted(const testing::Call& c) {
  if (c.count() == 1)
    return {lax::sort(c.x(0), c.integer("dimension", -1), c.flag("is_stable", true))};
  return lax::sort(c.all(), c.integer("dimension", -1), c.flag("is_stable", true),
                   c.integer("num_keys", 1));
}
lax::ApproxTopK approximately(const testing::Call& c) {
  return {.reduction_dimension = c.integer("reduction_dimension", -1),
          .recall_target = c.number("recall_target", 0.95),
          .reduction_input_size_override = c.integer("reduction_input_size_override", -1)};
}

STRATA_REDUCTION(reduce_sum);
STRATA_REDUCTION(reduce_prod);
STRATA_REDUCTION(reduce_max);
STRATA_REDUCTION(reduce_min);
STRATA_REDUCTION(reduce_and);
STRATA_REDUCTION(reduce_or);
STRATA_REDUCTION(reduce_xor);
STRATA_POSITION(argmax);
STRATA_POSITION(argmin);
STRATA_RUNNING(cumsum);
STRATA_RUNNING(cumprod);
STRATA_RUNNING(cummax);
STRATA_RUNNING(cummin);
STRATA_RUNNING(cumlogsumexp);
STRATA_GOLDEN("lax.reduce", lax::reduce(c.x(0), c.x(1), function_of(c), c.integers("dimensions")));
STRATA_GOLDEN("lax.reduce_window",
              lax::reduce_window(c.x(0), c.x(1), function_of(c), c.integers("window_dimensions"),
                                 {.window_strides = c.integers("window_strides"),
                                  .padding = padding_of(c),
                                  .base_dilation = c.integers("base_dilation"),
                                  .window_dilation = c.integers("window_dilation")}));
STRATA_GOLDEN("lax.padtype_to_pads", pads_of(c));
STRATA_GOLDEN("lax.reduce_window_shape_tuple",
              lax::shape_as_value(lax::reduce_window_shape_tuple(
                  c.integers("operand_shape"), c.integers("window_dimensions"),
                  c.integers("window_strides"), padding_of(c), c.integers("base_dilation"),
                  c.integers("window_dilation"))));
STRATA_GOLDEN("lax.sort", sorted(c));
STRATA_GOLDEN("lax.sort_key_val", lax::sort_key_val(c.x(0), c.x(1), c.integer("dimension", -1)));
STRATA_GOLDEN("lax.top_k", lax::top_k(c.x(0), c.integer("k"), c.integer("axis", -1)));
STRATA_GOLDEN("lax.approx_max_k", lax::approx_max_k(c.x(0), c.integer("k"), approximately(c)));
STRATA_GOLDEN("lax.approx_min_k", lax::approx_min_k(c.x(0), c.integer("k"), approximately(c)));
STRATA_GOLDEN("lax.associative_scan", scanned(c));

}  // namespace
}  // namespace strata
