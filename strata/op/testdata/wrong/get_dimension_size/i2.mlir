// get_dimension_size/i2.mlir:3:8: stablehlo.get_dimension_size requires attribute 'dimension'
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.get_dimension_size"(%a) : (tensor<2xf32>) -> tensor<i32>
  return
}
