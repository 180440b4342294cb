// collective_permute/c4_grid.mlir:3:8: collective_permute: source_target_pairs holds 7 in a grid of 2 replicas and 1 partitions (C4)
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 7]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @main() {
  %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
  %0:2 = "interpreter.run_parallel"(%k, %k) <{programs = [[@f], [@f]]}> : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}
