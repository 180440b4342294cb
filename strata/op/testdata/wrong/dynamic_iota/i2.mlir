// dynamic_iota/i2.mlir:3:8: stablehlo.dynamic_iota requires attribute 'iota_dimension'
func.func @main(%a: tensor<1xi32>) {
  %0 = "stablehlo.dynamic_iota"(%a) : (tensor<1xi32>) -> tensor<3xf32>
  return
}
