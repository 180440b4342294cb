// result_that_is_not_there.mlir:3:22: value %a has no result 1
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.add %a#1, %a : tensor<2xf32>
  return
}
