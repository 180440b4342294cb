// dynamic_pad/i4.mlir:3:8: dynamic_pad: an amount of padding must be integers of rank 1, got tensor<1xf32> (C2)
func.func @main(%a: tensor<3xf32>, %b: tensor<f32>, %c: tensor<1xi32>, %d: tensor<1xf32>, %e: tensor<1xi32>) {
  %0 = "stablehlo.dynamic_pad"(%a, %b, %c, %d, %e) : (tensor<3xf32>, tensor<f32>, tensor<1xi32>, tensor<1xf32>, tensor<1xi32>) -> tensor<5xf32>
  return
}
