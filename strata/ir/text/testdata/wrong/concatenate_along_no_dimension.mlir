// concatenate_along_no_dimension.mlir:3:8: concatenate: dimension 1 is outside of tensor<2xf32> (C4)
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.concatenate %a, %a, dim = 1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}
