// result_of_another_dtype.mlir:3:8: stablehlo.add: result 0 is tensor<2xf16>, but tensor<2xf32> is inferred (C1)
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.add"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf16>
  return
}
