// call_of_nothing.mlir:3:3: func.call: function @g is not defined
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  call @g(%a) : (tensor<2xf32>) -> ()
  return
}
