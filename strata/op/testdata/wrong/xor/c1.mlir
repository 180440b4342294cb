// xor/c1.mlir:3:8: xor: operands must have equal types, got tensor<2xi32> and tensor<3xi32> (C1)
func.func @main(%a: tensor<2xi32>, %b: tensor<3xi32>) {
  %0 = "stablehlo.xor"(%a, %b) : (tensor<2xi32>, tensor<3xi32>) -> tensor<2xi32>
  return
}
