// bound_of_too_many_elements.mlir:2:69: a tensor of more than 281474976710656 elements
func.func @f(%a: tensor<?xf32, #stablehlo.bounds<9223372036854775807>>) {
  return
}
