// dynamic_pad/c4_sizes.mlir:8:8: dynamic_pad: the result is tensor<4xf32>, but the amounts give tensor<5xf32> (C4)
func.func @main() {
  %a = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<3xf32>}> : () -> tensor<3xf32>
  %b = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
  %c = "stablehlo.constant"() <{value = dense<[1]> : tensor<1xi32>}> : () -> tensor<1xi32>
  %d = "stablehlo.constant"() <{value = dense<[1]> : tensor<1xi32>}> : () -> tensor<1xi32>
  %e = "stablehlo.constant"() <{value = dense<[0]> : tensor<1xi32>}> : () -> tensor<1xi32>
  %0 = "stablehlo.dynamic_pad"(%a, %b, %c, %d, %e) : (tensor<3xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xf32>
  return
}
