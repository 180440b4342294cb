// reduce/c2.mlir:3:8: reduce: the initial value of tensor<2x3xf32> must be tensor<f32>, got tensor<f64> (C2)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<f64>) {
  %0 = "stablehlo.reduce"(%a, %b) <{dimensions = array<i64: 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<2x3xf32>, tensor<f64>) -> tensor<2xf32>
  return
}
