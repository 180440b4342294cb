// function_body_without_names.mlir:2:11: function @f has a body, but its arguments have no names
func.func @f(tensor<2xf32>) {
  return
}
