// pad/c2.mlir:3:8: pad: edge_padding_high has 2 entries for an array of rank 1 (C2)
func.func @main(%a: tensor<3xf32>, %b: tensor<f32>) {
  %0 = "stablehlo.pad"(%a, %b) <{edge_padding_high = array<i64: 0, 1>, edge_padding_low = array<i64: 1>, interior_padding = array<i64: 0>}> : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  return
}
