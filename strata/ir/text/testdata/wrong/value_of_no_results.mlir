// value_of_no_results.mlir:3:8: a value of 0 results
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0:0 = stablehlo.add %a, %a : tensor<2xf32>
  return
}
