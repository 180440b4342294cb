// chlo.scan/c3.mlir:3:10: scan: argument 0 of the body is tensor<f64>, expected tensor<f32> (C3)
func.func @main(%a: tensor<3xf32>, %b: tensor<f32>) {
  %0:2 = "chlo.scan"(%a, %b) <{dimension = 0 : i64, num_carries = 1 : i64}> ({
    ^bb0(%x: tensor<f64>, %s: tensor<f32>):
      "stablehlo.return"(%s, %s) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<3xf32>, tensor<f32>) -> (tensor<3xf32>, tensor<f32>)
  return
}
