// reduce_scatter/c5_grid.mlir:3:8: reduce_scatter: replica_groups holds 7 in a grid of 2 replicas and 1 partitions (C5)
func.func @f(%a: tensor<2xf32>) -> tensor<1xf32> {
  %0 = "stablehlo.reduce_scatter"(%a) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 7]]> : tensor<1x2xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<2xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @main() {
  %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
  %0:2 = "interpreter.run_parallel"(%k, %k) <{programs = [[@f], [@f]]}> : (tensor<2xf32>, tensor<2xf32>) -> (tensor<1xf32>, tensor<1xf32>)
  return
}
