// Convolutions under the names of jax.lax: of an input (batch, features, spatial dimensions) with a
// kernel (output features, input features, spatial dimensions), in any order of dimensions that
// ConvGeneralDilatedDimensionNumbers says. The kernel is not turned around. Throws Error, with the
// shapes, where they do not go together. `precision` is the least that is asked for, and every
// product here is of full precision.
#pragma once

#include "strata/api/array.h"
#include "strata/api/lax/types.h"

namespace strata::lax {

struct ConvGeneralDilated {
  internal::Named named = internal::Named();
  /// Distances of the input's elements, and of the kernel's; 1 where left out.
  Sizes lhs_dilation = {}, rhs_dilation = {};
  ConvGeneralDilatedDimensionNumbers dimension_numbers = {};
  /// Features, or the batch, in so many groups, each with its part of the kernel's output features.
  std::int64_t feature_group_count = 1, batch_group_count = 1;
  Precision precision = Precision::DEFAULT;
  std::optional<DType> preferred_element_type = std::nullopt;
};
/// The convolution of lhs (a batch of inputs) with rhs (the kernel), with strides, padding,
/// dilations and groups, in the dimensions that the options name.
Array conv_general_dilated(const Operand& lhs, const Operand& rhs, const Sizes& window_strides,
                           const WindowPadding& padding, const ConvGeneralDilated& options = {});
/// Of dimensions in the default order.
Array conv(const Operand& lhs, const Operand& rhs, const Sizes& window_strides,
           const std::string& padding, Precision precision = Precision::DEFAULT,
           std::optional<DType> preferred_element_type = {});
/// conv_general_dilated of [batch, features, spatial...] with dilations.
Array conv_with_general_padding(const Operand& lhs, const Operand& rhs, const Sizes& window_strides,
                                const WindowPadding& padding, const Sizes& lhs_dilation,
                                const Sizes& rhs_dilation, Precision precision = Precision::DEFAULT,
                                std::optional<DType> preferred_element_type = {});

struct ConvTranspose {
  internal::Named named = internal::Named();
  Sizes rhs_dilation = {};
  /// Channels last where left out: {"NHWC", "HWIO", "NHWC"} and the like.
  ConvGeneralDilatedDimensionNumbers dimension_numbers = {};
  /// The kernel turned around, its input and output features exchanged: what the derivative of a
  /// convolution by its input is.
  bool transpose_kernel = false;
  Precision precision = Precision::DEFAULT;
  std::optional<DType> preferred_element_type = std::nullopt;
  /// Numbers as padding mean that of the convolution whose transpose this is, as words do; else
  /// that of this one.
  bool use_consistent_padding = false;
};
/// A convolution of the input spread out by the strides.
Array conv_transpose(const Operand& lhs, const Operand& rhs, const Sizes& strides,
                     const WindowPadding& padding, const ConvTranspose& options = {});

struct ConvPatches {
  internal::Named named = internal::Named();
  Sizes lhs_dilation = {}, rhs_dilation = {};
  ConvGeneralDilatedDimensionNumbers dimension_numbers = {};
  Precision precision = Precision::DEFAULT;
  std::optional<DType> preferred_element_type = std::nullopt;
};
/// The elements that each window of `filter_shape` holds, as features: those of a window in order,
/// for each input feature.
Array conv_general_dilated_patches(const Operand& lhs, const Sizes& filter_shape,
                                   const Sizes& window_strides, const WindowPadding& padding,
                                   const ConvPatches& options = {});
/// A convolution with another kernel at each place: spatial dimensions of `rhs` are those of the
/// result, its input features those of the patches.
Array conv_general_dilated_local(const Operand& lhs, const Operand& rhs,
                                 const Sizes& window_strides, const WindowPadding& padding,
                                 const Sizes& filter_shape, const ConvPatches& options = {});

/// Letters as numbers: N (batch) and C (feature) of input and output, O and I (features) of the
/// kernel, each once; the other letters are spatial, and their order is the kernel's.
ConvDimensionNumbers conv_general_permutations(const std::string& lhs_spec,
                                               const std::string& rhs_spec,
                                               const std::string& out_spec,
                                               Where where = Where::current());
/// What is which dimension, from letters or numbers, as numbers.
ConvDimensionNumbers conv_dimension_numbers(
    const Sizes& lhs_shape, const Sizes& rhs_shape,
    const ConvGeneralDilatedDimensionNumbers& dimension_numbers, Where where = Where::current());
/// The result's shape, of shapes in the default order and in any order.
std::vector<std::int64_t> conv_shape_tuple(const Sizes& lhs_shape, const Sizes& rhs_shape,
                                           const Sizes& strides, const WindowPadding& pads,
                                           std::int64_t batch_group_count = 1,
                                           Where where = Where::current());
/// The shape of a convolution's result.
std::vector<std::int64_t> conv_general_shape_tuple(
    const Sizes& lhs_shape, const Sizes& rhs_shape, const Sizes& window_strides,
    const WindowPadding& padding, const ConvGeneralDilatedDimensionNumbers& dimension_numbers,
    Where where = Where::current());
/// The shape of a transposed convolution's result.
std::vector<std::int64_t> conv_transpose_shape_tuple(
    const Sizes& lhs_shape, const Sizes& rhs_shape, const Sizes& window_strides,
    const WindowPadding& padding, const ConvGeneralDilatedDimensionNumbers& dimension_numbers,
    Where where = Where::current());

}  // namespace strata::lax
