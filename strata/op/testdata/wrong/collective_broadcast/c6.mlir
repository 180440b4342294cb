// collective_broadcast/c6.mlir:3:8: collective_broadcast: root 2 is no place in a group of 2 (C6)
func.func @f(%a: tensor<2xf32>, %b: tensor<1xi32>) -> tensor<2xf32> {
  %0 = "stablehlo.collective_broadcast"(%a, %b) <{has_dynamic_root = true, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>, tensor<1xi32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @main() {
  %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
  %r = "stablehlo.constant"() <{value = dense<2> : tensor<1xi32>}> : () -> tensor<1xi32>
  %0:2 = "interpreter.run_parallel"(%k, %r, %k, %r) <{programs = [[@f], [@f]]}> : (tensor<2xf32>, tensor<1xi32>, tensor<2xf32>, tensor<1xi32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}
