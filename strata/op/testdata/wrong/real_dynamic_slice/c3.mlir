// real_dynamic_slice/c3.mlir:3:8: real_dynamic_slice: each of start_indices, limit_indices and strides must have 1 entries, got tensor<2xi32> (C3)
func.func @main(%a: tensor<4xf32>, %b: tensor<2xi32>, %c: tensor<1xi32>, %d: tensor<1xi32>) {
  %0 = "stablehlo.real_dynamic_slice"(%a, %b, %c, %d) : (tensor<4xf32>, tensor<2xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
  return
}
