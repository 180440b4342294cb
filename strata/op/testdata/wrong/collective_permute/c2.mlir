// collective_permute/c2.mlir:3:8: collective_permute: 0 is the source of two source_target_pairs (C2)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
