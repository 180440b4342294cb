// strata.axis_reduce/c1.mlir:3:8: axis_reduce: combiner must be add, min or max, got mul (C1)
func.func @main(%a: tensor<2x3xf32>, %p: tensor<i32>) {
  %0 = "strata.axis_reduce"(%a, %p) <{axis = "i", axis_size = 2 : i64, combiner = "mul"}> : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
  return
}
