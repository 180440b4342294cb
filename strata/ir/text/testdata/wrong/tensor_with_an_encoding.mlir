// tensor_with_an_encoding.mlir:2:36: tensor encoding is not supported
func.func private @f(tensor<2xf32, "x">)
