// permutation_of_one_dimension_twice.mlir:3:8: transpose: permutation [0, 0] is none of the dimensions of tensor<2x3xf32> (C2)
func.func @f(%a: tensor<2x3xf32>) {
  %0 = stablehlo.transpose %a, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}
