// quantised_by_blocks.mlir:2:53: quantisation by blocks is not supported
func.func private @f(tensor<2x!quant.uniform<i8:f32:{0:2}, {0.5}>>)
