// Convolutions as JAX writes them. For tests.
#pragma once

#include "strata/ir/graph.h"

namespace strata::compile::testing {

struct ConvolutionSizes {
  ir::Ints lhs, rhs, strides, padding, lhs_dilation, rhs_dilation;
  std::int64_t groups = 1, batch_groups = 1;
};

/// A convolution of two spatial dimensions: features last, or second.
inline std::unique_ptr<ir::Block> convolution(DType dtype, DType result, const ConvolutionSizes& s,
                                              bool last) {
  ir::Ints space = last ? ir::Ints{1, 2} : ir::Ints{2, 3};
  std::int64_t feature = last ? 3 : 1;
  auto block = std::make_unique<ir::Block>();
  ir::Builder b(*block);
  ir::Value *lhs = block->add_argument(Type(dtype, Shape::of(s.lhs))),
            *rhs = block->add_argument(Type(dtype, Shape::of(s.rhs)));
  ir::Attrs attrs{{"input_batch_dimension", std::int64_t{0}},
                  {"input_feature_dimension", feature},
                  {"input_spatial_dimensions", space},
                  {"kernel_spatial_dimensions", ir::Ints{0, 1}},
                  {"kernel_input_feature_dimension", std::int64_t{2}},
                  {"kernel_output_feature_dimension", std::int64_t{3}},
                  {"output_batch_dimension", std::int64_t{0}},
                  {"output_feature_dimension", feature},
                  {"output_spatial_dimensions", space},
                  {"feature_group_count", s.groups},
                  {"batch_group_count", s.batch_groups},
                  {"window_strides", s.strides},
                  {"padding", s.padding},
                  {"lhs_dilation", s.lhs_dilation},
                  {"rhs_dilation", s.rhs_dilation}};
  ir::Op& op = b.create("stablehlo.convolution", {lhs, rhs}, attrs);
  op.result()->set_type(op.result()->type().with(result));
  block->results = {op.result()};
  return block;
}

}  // namespace strata::compile::testing
