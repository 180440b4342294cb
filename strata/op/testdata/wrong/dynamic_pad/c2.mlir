// dynamic_pad/c2.mlir:3:8: dynamic_pad: an amount of padding must have 1 entries, got tensor<2xi32> (C2)
func.func @main(%a: tensor<3xf32>, %b: tensor<f32>, %c: tensor<1xi32>, %d: tensor<2xi32>, %e: tensor<1xi32>) {
  %0 = "stablehlo.dynamic_pad"(%a, %b, %c, %d, %e) : (tensor<3xf32>, tensor<f32>, tensor<1xi32>, tensor<2xi32>, tensor<1xi32>) -> tensor<5xf32>
  return
}
