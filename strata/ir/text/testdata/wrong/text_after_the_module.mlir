// text_after_the_module.mlir:4:1: a module is followed by another; programs of one file are told apart by lines `// -----`
module {
}
func.func @f() {
  return
}
