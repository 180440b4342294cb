// reduce/i1.mlir:3:8: reduce: inputs must be arrays, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token, %b: tensor<f32>) {
  %0 = "stablehlo.reduce"(%a, %b) <{dimensions = array<i64: 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (!stablehlo.token, tensor<f32>) -> tensor<2xf32>
  return
}
