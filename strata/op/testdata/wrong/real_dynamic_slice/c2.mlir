// real_dynamic_slice/c2.mlir:3:8: real_dynamic_slice: a slice of tensor<4xf32> is no tensor<2x2xf32> (C2)
func.func @main(%a: tensor<4xf32>, %b: tensor<1xi32>, %c: tensor<1xi32>, %d: tensor<1xi32>) {
  %0 = "stablehlo.real_dynamic_slice"(%a, %b, %c, %d) : (tensor<4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2x2xf32>
  return
}
