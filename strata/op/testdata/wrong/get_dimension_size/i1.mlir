// get_dimension_size/i1.mlir:3:8: get_dimension_size: (I1) operands must be arrays, got !stablehlo.token
func.func @main(%a: !stablehlo.token) {
  %0 = "stablehlo.get_dimension_size"(%a) <{dimension = 0 : i64}> : (!stablehlo.token) -> tensor<i32>
  return
}
