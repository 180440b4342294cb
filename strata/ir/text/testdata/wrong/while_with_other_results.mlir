// while_with_other_results.mlir:3:8: while of (tensor<f32>) results in (tensor<2xf32>) (C3)
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.while"(%z) ({
  ^bb0(%x: tensor<f32>):
    %p = stablehlo.compare LT, %x, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<f32>) -> tensor<2xf32>
  return
}
