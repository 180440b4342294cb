// function_of_nested_visibility.mlir:2:20: nested visibility is not supported
func.func nested @f() {
  return
}
