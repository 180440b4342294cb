// function_twice.mlir:5:11: function @f twice
func.func @f() {
  return
}
func.func @f() {
  return
}
