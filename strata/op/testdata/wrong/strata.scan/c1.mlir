// strata.scan/c1.mlir:3:10: scan: 2 operands for 0 consts and 3 carries (C1)
func.func @main(%a: tensor<f32>, %b: tensor<3xf32>) {
  %0:2 = "strata.scan"(%a, %b) <{length = 3 : i64, num_carry = 3 : i64, num_consts = 0 : i64, reverse = false}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      "stablehlo.return"(%x, %y) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>)
  return
}
