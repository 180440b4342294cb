// interpreter.run_parallel/c2.mlir:8:10: run_parallel: number 1 of the operands is tensor<3xf32>, of the programs tensor<2xf32> (C2)
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}
func.func @main() {
  %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
  %t = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<3xf32>}> : () -> tensor<3xf32>
  %0:2 = "interpreter.run_parallel"(%k, %t) <{programs = [[@f, @f]]}> : (tensor<2xf32>, tensor<3xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}
