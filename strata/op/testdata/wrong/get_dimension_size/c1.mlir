// get_dimension_size/c1.mlir:3:8: get_dimension_size: dimension 1 is outside of tensor<2xf32> (C1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.get_dimension_size"(%a) <{dimension = 1 : i64}> : (tensor<2xf32>) -> tensor<i32>
  return
}
