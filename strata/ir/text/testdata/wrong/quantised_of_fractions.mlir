// quantised_of_fractions.mlir:2:46: 'f32' is no integer type
func.func private @f(tensor<2x!quant.uniform<f32:f32, 0.5>>)
