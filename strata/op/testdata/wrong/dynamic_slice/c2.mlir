// dynamic_slice/c2.mlir:3:8: dynamic_slice: expected 2 start indices, got 1 (C2)
func.func @main(%a: tensor<4x4xf32>, %b: tensor<i32>) {
  %0 = "stablehlo.dynamic_slice"(%a, %b) <{slice_sizes = array<i64: 2, 4>}> : (tensor<4x4xf32>, tensor<i32>) -> tensor<2x4xf32>
  return
}
