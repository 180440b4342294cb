// bitcast_convert/c1.mlir:3:8: bitcast_convert: tensor<2xf32> cannot be seen as tensor<3xi32> (C1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.bitcast_convert"(%a) : (tensor<2xf32>) -> tensor<3xi32>
  return
}
