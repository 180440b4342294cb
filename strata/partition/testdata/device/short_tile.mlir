// 5 elements over 2 devices: the second's third is beyond the end, and nothing to the sum.
sdy.mesh @m = <["x"=2]>
func.func @main(%a: tensor<5xf32> {sdy.sharding = #sdy.sharding<@m, [{}]>}) -> (tensor<f32>) {
  %0 = sdy.sharding_constraint %a <@m, [{"x"}]> : tensor<5xf32>
  %1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %2 = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}
