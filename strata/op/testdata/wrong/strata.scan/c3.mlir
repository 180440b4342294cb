// strata.scan/c3.mlir:3:10: scan: the body's argument 1 is tensor<f64>, the operand needs tensor<f32> (C3)
func.func @main(%a: tensor<f32>, %b: tensor<3xf32>) {
  %0:2 = "strata.scan"(%a, %b) <{length = 3 : i64, num_carry = 1 : i64, num_consts = 0 : i64, reverse = false}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f64>):
      "stablehlo.return"(%x, %x) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>)
  return
}
