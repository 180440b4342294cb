// dynamic_slice/i3.mlir:3:8: stablehlo.dynamic_slice requires attribute 'slice_sizes'
func.func @main(%a: tensor<4x4xf32>, %b: tensor<i32>, %c: tensor<i32>) {
  %0 = "stablehlo.dynamic_slice"(%a, %b, %c) : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  return
}
