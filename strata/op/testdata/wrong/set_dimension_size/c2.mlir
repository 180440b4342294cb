// set_dimension_size/c2.mlir:3:8: set_dimension_size: dimension 1 is outside of tensor<4xf32> (C2)
func.func @main(%a: tensor<4xf32>, %b: tensor<i32>) {
  %0 = "stablehlo.set_dimension_size"(%a, %b) <{dimension = 1 : i64}> : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32>
  return
}
