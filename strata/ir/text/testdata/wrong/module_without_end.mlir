// module_without_end.mlir:6:1: expected '}'
module {
  func.func @f() {
    return
  }
