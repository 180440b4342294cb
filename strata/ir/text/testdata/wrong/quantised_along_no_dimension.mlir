// quantised_along_no_dimension.mlir:2:24: quantised along dimension 1 of 1
func.func @f(%a: tensor<4x!quant.uniform<i8:f32:1, {1.0, 2.0}>>) {
  return
}
