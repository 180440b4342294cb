// collective_permute/c5.mlir:3:8: stablehlo.collective_permute: result 0 is tensor<3xf32>, but tensor<2xf32> is inferred (C5)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<3xf32>
  return
}
