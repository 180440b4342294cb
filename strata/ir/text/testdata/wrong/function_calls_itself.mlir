// function_calls_itself.mlir:7:3: func.call: function @f calls itself
func.func @f() {
  call @g() : () -> ()
  return
}
func.func @g() {
  call @f() : () -> ()
  return
}
