// chlo.scan/c4.mlir:3:10: scan: carry 0 enters the body as tensor<f32> and leaves it as tensor<2xf32> (C4)
func.func @main(%a: tensor<3x2xf32>, %b: tensor<f32>) {
  %0:2 = "chlo.scan"(%a, %b) <{dimension = 0 : i64, num_carries = 1 : i64}> ({
    ^bb0(%x: tensor<2xf32>, %s: tensor<f32>):
      "stablehlo.return"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> ()
  }) : (tensor<3x2xf32>, tensor<f32>) -> (tensor<3xf32>, tensor<f32>)
  return
}
