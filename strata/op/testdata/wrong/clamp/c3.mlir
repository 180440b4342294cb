// clamp/c3.mlir:3:8: clamp: the bounds' dtype differs from the operand's, got tensor<f64> and tensor<3xf32> (C3)
func.func @main(%a: tensor<f64>, %b: tensor<3xf32>, %c: tensor<f32>) {
  %0 = "stablehlo.clamp"(%a, %b, %c) : (tensor<f64>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}
