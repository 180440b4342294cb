// chlo.scan/c1.mlir:3:10: scan: dimension 1 is out of range for tensor<3xf32> (C1)
func.func @main(%a: tensor<3xf32>, %b: tensor<f32>) {
  %0:2 = "chlo.scan"(%a, %b) <{dimension = 1 : i64, num_carries = 1 : i64}> ({
    ^bb0(%x: tensor<f32>, %s: tensor<f32>):
      "stablehlo.return"(%x, %s) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<3xf32>, tensor<f32>) -> (tensor<3xf32>, tensor<f32>)
  return
}
