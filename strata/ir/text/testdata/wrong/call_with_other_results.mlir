// ?
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = call @g() : () -> tensor<2xf32>
  return
}
func.func @g() {
  return
}
