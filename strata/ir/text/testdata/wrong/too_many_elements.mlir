// too_many_elements.mlir:2:25: a tensor of more than 281474976710656 elements
func.func @f(%a: tensor<9223372036854775807x2xf32>) {
  return
}
