// quantised_by_a_negative_scale.mlir:2:50: scale -1.0 is no positive number
func.func @f(%a: tensor<4x!quant.uniform<i8:f32, -1.0:3>>) {
  return
}
