// call_into_a_module.mlir:3:3: callee @a::@b is no plain symbol
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  func.call @a::@b() : () -> ()
  return
}
