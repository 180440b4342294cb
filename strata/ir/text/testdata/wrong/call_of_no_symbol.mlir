// call_of_no_symbol.mlir:3:3: callee unit is no symbol
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  "func.call"() <{callee = unit}> : () -> ()
  return
}
