// tensor_of_any_rank.mlir:2:29: unranked tensors are not supported
func.func private @f(tensor<*xf32>)
