// named_computation_without_body.mlir:3:8: sdy.named_computation has 0 regions, not one
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "sdy.named_computation"(%z) <{name = "n"}> : (tensor<f32>) -> tensor<f32>
  return
}
