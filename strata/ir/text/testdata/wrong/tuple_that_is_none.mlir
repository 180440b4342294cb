// tuple_that_is_none.mlir:3:29: tensor<2xf32> is no tuple
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.tuple %a : tensor<2xf32>
  return
}
