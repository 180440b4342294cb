// strata.scan/c4.mlir:3:10: scan: carry 0 enters the body as tensor<f32> and leaves it as tensor<2xf32> (C4)
func.func @main(%a: tensor<f32>, %b: tensor<3x2xf32>) {
  %0:2 = "strata.scan"(%a, %b) <{length = 3 : i64, num_carry = 1 : i64, num_consts = 0 : i64, reverse = false}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<2xf32>):
      "stablehlo.return"(%y, %y) : (tensor<2xf32>, tensor<2xf32>) -> ()
  }) : (tensor<f32>, tensor<3x2xf32>) -> (tensor<f32>, tensor<3xf32>)
  return
}
