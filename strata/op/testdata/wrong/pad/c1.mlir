// pad/c1.mlir:3:8: pad: padding value of tensor<3xf32> must be a scalar of its dtype, got tensor<f64> (C1)
func.func @main(%a: tensor<3xf32>, %b: tensor<f64>) {
  %0 = "stablehlo.pad"(%a, %b) <{edge_padding_high = array<i64: 1>, edge_padding_low = array<i64: 1>, interior_padding = array<i64: 0>}> : (tensor<3xf32>, tensor<f64>) -> tensor<5xf32>
  return
}
