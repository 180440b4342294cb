// text_that_goes_on.mlir:5:1: expected the end of the text
func.func @f() {
  return
}
}
