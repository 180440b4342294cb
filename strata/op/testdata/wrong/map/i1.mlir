// map/i1.mlir:3:8: map: inputs must be arrays, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token, %b: tensor<2xf32>) {
  %0 = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (!stablehlo.token, tensor<2xf32>) -> tensor<2xf32>
  return
}
