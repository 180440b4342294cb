// dynamic_slice/c3.mlir:3:8: dynamic_slice: start indices must have one type, got tensor<i32> and tensor<i64> (C3)
func.func @main(%a: tensor<4x4xf32>, %b: tensor<i32>, %c: tensor<i64>) {
  %0 = "stablehlo.dynamic_slice"(%a, %b, %c) <{slice_sizes = array<i64: 2, 4>}> : (tensor<4x4xf32>, tensor<i32>, tensor<i64>) -> tensor<2x4xf32>
  return
}
