// dynamic_pad/c1.mlir:3:8: dynamic_pad: the padding value must be a scalar of the operand's type, got tensor<f64> and tensor<3xf32> (C1)
func.func @main(%a: tensor<3xf32>, %b: tensor<f64>, %c: tensor<1xi32>, %d: tensor<1xi32>, %e: tensor<1xi32>) {
  %0 = "stablehlo.dynamic_pad"(%a, %b, %c, %d, %e) : (tensor<3xf32>, tensor<f64>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<5xf32>
  return
}
