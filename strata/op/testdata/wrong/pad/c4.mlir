// pad/c4.mlir:3:8: stablehlo.pad: result 0 is tensor<4xf32>, but tensor<5xf32> is inferred (C1, C4)
func.func @main(%a: tensor<3xf32>, %b: tensor<f32>) {
  %0 = "stablehlo.pad"(%a, %b) <{edge_padding_high = array<i64: 1>, edge_padding_low = array<i64: 1>, interior_padding = array<i64: 0>}> : (tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
