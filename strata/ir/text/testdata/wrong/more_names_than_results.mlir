// more_names_than_results.mlir:3:3: stablehlo.add has 1 results, but 2 are named
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0:2 = stablehlo.add %a, %a : tensor<2xf32>
  return
}
