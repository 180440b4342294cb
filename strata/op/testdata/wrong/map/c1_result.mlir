// map/c1_result.mlir:3:8: stablehlo.map: result 0 is tensor<3xf32>, but tensor<2xf32> is inferred (C1, C4)
func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  %0 = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}
