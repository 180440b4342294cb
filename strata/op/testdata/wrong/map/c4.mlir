// map/c4.mlir:3:8: map: argument 0 of the computation is tensor<f64>, expected tensor<f32> (C4)
func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  %0 = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0>}> ({
    ^bb0(%x: tensor<f64>, %y: tensor<f64>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%r) : (tensor<f64>) -> ()
  }) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
