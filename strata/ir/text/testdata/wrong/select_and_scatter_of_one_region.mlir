// select_and_scatter_of_one_region.mlir:3:8: select_and_scatter has 1 regions
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%a, %a, %z) <{window_dimensions = array<i64: 1>}> ({
    stablehlo.return %z : tensor<f32>
  }) : (tensor<2xf32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}
