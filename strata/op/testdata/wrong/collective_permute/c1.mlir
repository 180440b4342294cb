// collective_permute/c1.mlir:3:8: collective_permute: source_target_pairs must be pairs, got tensor<1x3xi64> (C1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
