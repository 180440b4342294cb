// dimension_without_x.mlir:2:27: expected 'x' after a dimension
func.func @f(%a: tensor<2 f32>) {
  return
}
