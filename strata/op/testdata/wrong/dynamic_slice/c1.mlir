// dynamic_slice/c1.mlir:3:8: stablehlo.dynamic_slice: result 0 is tensor<2x4xf64>, but tensor<2x4xf32> is inferred (C1, C5)
func.func @main(%a: tensor<4x4xf32>, %b: tensor<i32>, %c: tensor<i32>) {
  %0 = "stablehlo.dynamic_slice"(%a, %b, %c) <{slice_sizes = array<i64: 2, 4>}> : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf64>
  return
}
