// dynamic_slice/i1.mlir:3:8: dynamic_slice: operands must be arrays, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token, %b: tensor<i32>, %c: tensor<i32>) {
  %0 = "stablehlo.dynamic_slice"(%a, %b, %c) <{slice_sizes = array<i64: 2, 4>}> : (!stablehlo.token, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  return
}
