// strata.axis_reduce/c1_dtype.mlir:3:8: axis_reduce: combiner max does not exist for complex<f32> (C1)
func.func @main(%a: tensor<2xcomplex<f32>>, %p: tensor<i32>) {
  %0 = "strata.axis_reduce"(%a, %p) <{axis = "i", axis_size = 2 : i64, combiner = "max"}> : (tensor<2xcomplex<f32>>, tensor<i32>) -> tensor<2xcomplex<f32>>
  return
}
