// no_function.mlir:2:1: expected a function
frob @f() {
}
