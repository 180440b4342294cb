// tensor_of_indices.mlir:2:31: element type is not supported
func.func private @f(tensor<2xindex>)
