// bound_on_a_static_dimension.mlir:2:51: bound 8 on a dimension that is not '?'
func.func @f(%a: tensor<4xf32, #stablehlo.bounds<8>>) {
  return
}
