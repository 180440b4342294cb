// operand_that_is_none.mlir:3:26: expected a value
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.reverse 5, dims = [0] : tensor<2xf32>
  return
}
