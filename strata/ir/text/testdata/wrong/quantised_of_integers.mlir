// quantised_of_integers.mlir:2:49: expected a float type
func.func private @f(tensor<2x!quant.uniform<i8:i32, 0.5>>)
