// get_dimension_size/i1.mlir:3:8: get_dimension_size: operands must be arrays, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token) {
  %0 = "stablehlo.get_dimension_size"(%a) <{dimension = 0 : i64}> : (!stablehlo.token) -> tensor<i32>
  return
}
