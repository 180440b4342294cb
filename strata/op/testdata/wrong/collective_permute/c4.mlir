// collective_permute/c4.mlir:3:8: collective_permute: source_target_pairs holds -2 (C4)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, -2]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
