// call_with_other_arguments.mlir:3:3: func.call: @g takes (), but is given (tensor<2xf32>)
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  call @g(%a) : (tensor<2xf32>) -> ()
  return
}
func.func @g() {
  return
}
