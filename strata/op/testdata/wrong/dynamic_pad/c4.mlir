// dynamic_pad/c4.mlir:3:8: dynamic_pad: tensor<3xf32> padded is no tensor<5x5xf32> (C4)
func.func @main(%a: tensor<3xf32>, %b: tensor<f32>, %c: tensor<1xi32>, %d: tensor<1xi32>, %e: tensor<1xi32>) {
  %0 = "stablehlo.dynamic_pad"(%a, %b, %c, %d, %e) : (tensor<3xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<5x5xf32>
  return
}
