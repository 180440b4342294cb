// pad/c4_negative.mlir:3:8: pad: padding -5 and 1 leaves dimension 0 of tensor<3xf32> with size -1 (C4)
func.func @main(%a: tensor<3xf32>, %b: tensor<f32>) {
  %0 = "stablehlo.pad"(%a, %b) <{edge_padding_high = array<i64: 1>, edge_padding_low = array<i64: -5>, interior_padding = array<i64: 0>}> : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  return
}
