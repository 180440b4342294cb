// pad/c3.mlir:3:8: pad: interior padding -1 of dimension 0 is negative (C3)
func.func @main(%a: tensor<3xf32>, %b: tensor<f32>) {
  %0 = "stablehlo.pad"(%a, %b) <{edge_padding_high = array<i64: 1>, edge_padding_low = array<i64: 1>, interior_padding = array<i64: -1>}> : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  return
}
