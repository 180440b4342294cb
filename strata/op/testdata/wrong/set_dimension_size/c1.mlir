// set_dimension_size/c1.mlir:3:8: set_dimension_size: the result has the operand's element type, got tensor<4xf32> and tensor<?xf64> (C1)
func.func @main(%a: tensor<4xf32>, %b: tensor<i32>) {
  %0 = "stablehlo.set_dimension_size"(%a, %b) <{dimension = 0 : i64}> : (tensor<4xf32>, tensor<i32>) -> tensor<?xf64>
  return
}
