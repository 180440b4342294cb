// operands_that_differ.mlir:3:8: add: operands must have equal types, got tensor<2xf32> and tensor<f32> (C1)
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.add %a, %z : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}
