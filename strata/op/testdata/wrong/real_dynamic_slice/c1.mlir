// real_dynamic_slice/c1.mlir:3:8: real_dynamic_slice: the result has the operand's element type, got tensor<4xf32> and tensor<2xf64> (C1)
func.func @main(%a: tensor<4xf32>, %b: tensor<1xi32>, %c: tensor<1xi32>, %d: tensor<1xi32>) {
  %0 = "stablehlo.real_dynamic_slice"(%a, %b, %c, %d) : (tensor<4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf64>
  return
}
