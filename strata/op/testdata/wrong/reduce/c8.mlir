// reduce/c8.mlir:3:8: stablehlo.reduce: result 0 is tensor<2xf64>, but tensor<2xf32> is inferred (C7, C8)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<f32>) {
  %0 = "stablehlo.reduce"(%a, %b) <{dimensions = array<i64: 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf64>
  return
}
