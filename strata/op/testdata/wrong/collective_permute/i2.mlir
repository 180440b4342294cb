// collective_permute/i2.mlir:3:8: collective_permute: attribute source_target_pairs is missing
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.collective_permute"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
