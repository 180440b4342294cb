// dynamic_slice/c2_sizes.mlir:3:8: dynamic_slice: slice_sizes has 1 entries for an array of rank 2 (C2)
func.func @main(%a: tensor<4x4xf32>, %b: tensor<i32>, %c: tensor<i32>) {
  %0 = "stablehlo.dynamic_slice"(%a, %b, %c) <{slice_sizes = array<i64: 2>}> : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  return
}
