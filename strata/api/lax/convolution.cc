#include "strata/api/lax/convolution.h"

#include <algorithm>

#include "strata/api/lax/convolution_padding.h"
#include "strata/api/lax/operations.h"
#include "strata/api/lax/products.h"
#include "strata/api/lax/shapes.h"
#include "strata/api/lax/windows.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/trace/compose.h"

namespace strata::lax {
namespace {

using internal::Builder;
using internal::describe;
using internal::emit_one;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::Values;
using Pads = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Sizes of the spatial dimensions in the kernel's order.
Ints spatial_sizes(const Array& x, const Ints& spec) {
  Ints out;
  for (std::size_t i = 2; i < spec.size(); ++i) out.push_back(x.shape()[static_cast<int>(spec[i])]);
  return out;
}
Ints from_second(const Ints& spec) { return {spec.begin() + 2, spec.end()}; }
Ints or_ones(const Sizes& given, std::size_t rank) {
  return given.size() == 0 ? Ints(rank, 1) : given.get();
}
Ints dilated(Ints sizes, const Ints& by) {
  for (std::size_t i = 0; i < sizes.size(); ++i)
    sizes[i] = sizes[i] == 0 ? 0 : 1 + by[i] * (sizes[i] - 1);
  return sizes;
}

void require_layout(const char* name, const Array& lhs, const Array& rhs,
                    const ConvDimensionNumbers& d) {
  for (const Array& x : {lhs, rhs})
    if (x.ndim() != static_cast<int>(d.lhs_spec.size()))
      fail(name, "{} does not have the {} dimensions that are numbered", describe(x.type()),
           d.lhs_spec.size());
  if (lhs.dtype() != rhs.dtype())
    fail(name, "operands have different dtypes: {} and {}", describe(lhs.type()),
         describe(rhs.type()));
}

void require_lists(const char* name, std::size_t spatial,
                   std::initializer_list<std::pair<const char*, std::size_t>> lists) {
  for (auto [what, count] : lists)
    if (count != spatial)
      fail(name, "{} has {} entries for {} spatial dimensions", what, count, spatial);
}

/// A matrix whose rows are the places of a window, as a kernel that keeps each of them, for each of
/// `features`.
Array selecting_kernel(DType dtype, std::int64_t features, const Sizes& filter_shape,
                       const ConvDimensionNumbers& d) {
  const std::int64_t places = Shape::of(filter_shape).count();
  Ints shape{features * places, 1};
  for (std::int64_t s : filter_shape) shape.push_back(s);
  const Array each =
      lax::reshape(lax::broadcast(numpy::eye(places, {}, 0, dtype), features), shape);
  // Dimensions (output feature, input feature, spatial...) to where the numbers want them; spatial
  // ones keep their order.
  return numpy::moveaxis(each, {0, 1}, {d.rhs_spec[0], d.rhs_spec[1]});
}

}  // namespace

Array conv_general_dilated(const Operand& lhs, const Operand& rhs, const Sizes& window_strides,
                           const WindowPadding& padding, const ConvGeneralDilated& options) {
  Site site(lhs);
  const char* name = "conv_general_dilated";
  const ConvDimensionNumbers d =
      conv_dimension_numbers(lhs->shape(), rhs->shape(), options.dimension_numbers, lhs.where);
  require_layout(name, lhs, rhs, d);
  const std::size_t spatial = d.lhs_spec.size() - 2;
  const Ints spread = or_ones(options.lhs_dilation, spatial),
             taps = or_ones(options.rhs_dilation, spatial);
  require_lists(name, spatial,
                {{"window_strides", window_strides.size()},
                 {"lhs_dilation", spread.size()},
                 {"rhs_dilation", taps.size()}});
  if (!padding.name().empty() && spread != Ints(spatial, 1))
    fail(name,
         "padding \"{}\" is not defined for a dilated input; give numbers, or use conv_transpose",
         padding.name());
  Ints pads;
  for (auto [low, high] : padtype_to_pads(spatial_sizes(lhs, d.lhs_spec),
                                          dilated(spatial_sizes(rhs, d.rhs_spec), taps),
                                          window_strides, padding, lhs.where))
    pads.insert(pads.end(), {low, high});
  return emit_one({lhs.array, rhs.array}, lhs->weak() && rhs->weak(),
                  [&](Builder& b, const Values& v) {
                    const ir::Attrs attrs{{"window_strides", window_strides.get()},
                                          {"padding", pads},
                                          {"lhs_dilation", spread},
                                          {"rhs_dilation", taps},
                                          {"input_batch_dimension", d.lhs_spec[0]},
                                          {"input_feature_dimension", d.lhs_spec[1]},
                                          {"input_spatial_dimensions", from_second(d.lhs_spec)},
                                          {"kernel_output_feature_dimension", d.rhs_spec[0]},
                                          {"kernel_input_feature_dimension", d.rhs_spec[1]},
                                          {"kernel_spatial_dimensions", from_second(d.rhs_spec)},
                                          {"output_batch_dimension", d.out_spec[0]},
                                          {"output_feature_dimension", d.out_spec[1]},
                                          {"output_spatial_dimensions", from_second(d.out_spec)},
                                          {"feature_group_count", options.feature_group_count},
                                          {"batch_group_count", options.batch_group_count}};
                    ir::Value* out = b.create("stablehlo.convolution", v, attrs).result();
                    if (options.preferred_element_type)
                      out->set_type(out->type().with(*options.preferred_element_type));
                    return out;
                  });
}

Array conv(const Operand& lhs, const Operand& rhs, const Sizes& window_strides,
           const std::string& padding, Precision precision, std::optional<DType> preferred) {
  return conv_general_dilated(lhs, rhs, window_strides, padding,
                              {.precision = precision, .preferred_element_type = preferred});
}
Array conv_with_general_padding(const Operand& lhs, const Operand& rhs, const Sizes& window_strides,
                                const WindowPadding& padding, const Sizes& lhs_dilation,
                                const Sizes& rhs_dilation, Precision precision,
                                std::optional<DType> preferred) {
  return conv_general_dilated(lhs, rhs, window_strides, padding,
                              {.lhs_dilation = lhs_dilation,
                               .rhs_dilation = rhs_dilation,
                               .precision = precision,
                               .preferred_element_type = preferred});
}

Pads detail::transposed_padding(const Ints& window, const Sizes& strides,
                                const WindowPadding& padding) {
  Pads out;
  if (!padding.name().empty() && padding.name() != "SAME" && padding.name() != "VALID")
    fail("conv_transpose", "padding is \"SAME\", \"VALID\" or numbers, got \"{}\"", padding.name());
  require_lists("conv_transpose", window.size(),
                {{"strides", strides.size()},
                 {"padding", padding.name().empty() ? padding.pairs().size() : window.size()}});
  for (std::size_t i = 0; i < window.size(); ++i) {
    const std::int64_t k = window[i], s = strides[i];
    if (padding.name() == "SAME") {
      const std::int64_t before = s > k - 1 ? k - 1 : (k + s - 1) / 2;
      out.emplace_back(before, k + s - 2 - before);
    } else if (padding.name() == "VALID") {
      out.emplace_back(k - 1, s - 1 + std::max<std::int64_t>(k - s, 0));
    } else {
      out.emplace_back(k - 1 - padding.pairs()[i].first, k - 1 - padding.pairs()[i].second);
    }
  }
  return out;
}

Array conv_transpose(const Operand& lhs, const Operand& rhs, const Sizes& strides,
                     const WindowPadding& padding, const ConvTranspose& options) {
  Site site(lhs);
  static const ConvGeneralDilatedDimensionNumbers channels_last[] = {{"NC", "IO", "NC"},
                                                                     {"NHC", "HIO", "NHC"},
                                                                     {"NHWC", "HWIO", "NHWC"},
                                                                     {"NHWDC", "HWDIO", "NHWDC"}};
  const bool given = options.dimension_numbers.letters() || options.dimension_numbers.numbers();
  if (!given && (lhs->ndim() < 2 || lhs->ndim() > 5))
    fail("conv_transpose", "there is no default order of the dimensions of {}",
         describe(lhs->type()));
  const ConvDimensionNumbers d = conv_dimension_numbers(
      lhs->shape(), rhs->shape(),
      given ? options.dimension_numbers : channels_last[lhs->ndim() - 2], lhs.where);
  require_layout("conv_transpose", lhs, rhs, d);
  const Ints taps = or_ones(options.rhs_dilation, d.rhs_spec.size() - 2);
  const bool by_word = padding.name() == "SAME" || padding.name() == "VALID";
  const WindowPadding pads =
      options.use_consistent_padding || by_word
          ? WindowPadding(detail::transposed_padding(dilated(spatial_sizes(rhs, d.rhs_spec), taps),
                                                     strides, padding))
          : padding;
  const Array kernel = options.transpose_kernel ? numpy::swapaxes(rev(rhs, from_second(d.rhs_spec)),
                                                                  d.rhs_spec[0], d.rhs_spec[1])
                                                : rhs.array;
  return conv_general_dilated(lhs, kernel, Ints(taps.size(), 1), pads,
                              {.lhs_dilation = strides,
                               .rhs_dilation = taps,
                               .dimension_numbers = d,
                               .precision = options.precision,
                               .preferred_element_type = options.preferred_element_type});
}

Array conv_general_dilated_patches(const Operand& lhs, const Sizes& filter_shape,
                                   const Sizes& window_strides, const WindowPadding& padding,
                                   const ConvPatches& options) {
  Site site(lhs);
  Ints kernel_shape{1, 1};
  for (std::int64_t s : filter_shape) kernel_shape.push_back(s);
  const ConvDimensionNumbers d =
      conv_dimension_numbers(lhs->shape(), kernel_shape, options.dimension_numbers, lhs.where);
  const std::int64_t features = lhs->shape()[static_cast<int>(d.lhs_spec[1])];
  return conv_general_dilated(lhs, selecting_kernel(lhs->dtype(), features, filter_shape, d),
                              window_strides, padding,
                              {.lhs_dilation = options.lhs_dilation,
                               .rhs_dilation = options.rhs_dilation,
                               .dimension_numbers = d,
                               .feature_group_count = features,
                               .precision = options.precision,
                               .preferred_element_type = options.preferred_element_type});
}

Array conv_general_dilated_local(const Operand& lhs, const Operand& rhs,
                                 const Sizes& window_strides, const WindowPadding& padding,
                                 const Sizes& filter_shape, const ConvPatches& options) {
  Site site(lhs);
  const Array patches =
      conv_general_dilated_patches(lhs, filter_shape, window_strides, padding, options);
  Ints kernel_shape{1, 1};
  for (std::int64_t s : filter_shape) kernel_shape.push_back(s);
  const ConvDimensionNumbers d =
      conv_dimension_numbers(lhs->shape(), kernel_shape, options.dimension_numbers, lhs.where);
  // Products over the features of each place, which goes along: places in the result's order come
  // first.
  std::vector<std::pair<std::int64_t, std::int64_t>> along;
  for (std::size_t i = 2; i < d.out_spec.size(); ++i)
    along.emplace_back(d.out_spec[i], d.rhs_spec[i]);
  std::sort(along.begin(), along.end());
  DotDimensionNumbers dot{.lhs_contracting = {d.out_spec[1]},
                          .rhs_contracting = {d.rhs_spec[1]},
                          .lhs_batch = {},
                          .rhs_batch = {}};
  for (auto [out, kernel] : along) {
    dot.lhs_batch.push_back(out);
    dot.rhs_batch.push_back(kernel);
  }
  return numpy::moveaxis(dot_general(patches, rhs, dot), {-2, -1}, {d.out_spec[0], d.out_spec[1]});
}

}  // namespace strata::lax
