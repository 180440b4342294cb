// quantised_along_a_far_dimension.mlir:2:53: axis 65 is no dimension
func.func private @f(tensor<2x!quant.uniform<i8:f32:65, {0.5}>>)
