// collective_permute/c3.mlir:3:8: collective_permute: 1 is the target of two source_target_pairs (C3)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
