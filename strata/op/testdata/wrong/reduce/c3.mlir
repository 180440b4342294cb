// reduce/c3.mlir:3:8: reduce: expected inputs and as many initial values, got 1 operands (C3)
func.func @main(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.reduce"(%a) <{dimensions = array<i64: 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}
