// call_with_other_results.mlir:3:8: func.call: @g returns (), but (tensor<2xf32>) is stated
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = call @g() : () -> tensor<2xf32>
  return
}
func.func @g() {
  return
}
