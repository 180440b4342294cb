// interpreter.run_parallel/c4.mlir:8:10: run_parallel: @f feeds the programs and must return one tensor (C4)
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}
func.func @main() {
  %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
  %t = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<3xf32>}> : () -> tensor<3xf32>
  %0:2 = "interpreter.run_parallel"(%k, %k) <{infeed = [@f], programs = [[@f, @f]]}> : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}
