// dynamic_slice/c4.mlir:3:8: dynamic_slice: slice size 5 does not fit dimension 1 of tensor<4x4xf32> (C4)
func.func @main(%a: tensor<4x4xf32>, %b: tensor<i32>, %c: tensor<i32>) {
  %0 = "stablehlo.dynamic_slice"(%a, %b, %c) <{slice_sizes = array<i64: 2, 5>}> : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  return
}
