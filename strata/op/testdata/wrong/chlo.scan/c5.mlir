// chlo.scan/c5.mlir:3:10: scan of 2 operands and 2 results has 3 carries (C5)
func.func @main(%a: tensor<3xf32>, %b: tensor<f32>) {
  %0:2 = "chlo.scan"(%a, %b) <{dimension = 0 : i64, num_carries = 3 : i64}> ({
    ^bb0(%x: tensor<f32>, %s: tensor<f32>):
      "stablehlo.return"(%x, %s) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<3xf32>, tensor<f32>) -> (tensor<3xf32>, tensor<f32>)
  return
}
