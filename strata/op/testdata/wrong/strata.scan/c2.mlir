// strata.scan/c2.mlir:3:10: scan: operand 1 is scanned over and needs a leading dimension of 3, got tensor<4xf32> (C2)
func.func @main(%a: tensor<f32>, %b: tensor<4xf32>) {
  %0:2 = "strata.scan"(%a, %b) <{length = 3 : i64, num_carry = 1 : i64, num_consts = 0 : i64, reverse = false}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      "stablehlo.return"(%x, %y) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<f32>, tensor<4xf32>) -> (tensor<f32>, tensor<3xf32>)
  return
}
