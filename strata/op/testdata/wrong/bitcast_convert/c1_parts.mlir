// bitcast_convert/c1_parts.mlir:3:8: bitcast_convert: tensor<2xf32> as tensor<2x3xi8>: the last dimension of the narrower array must be 4 (C1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.bitcast_convert"(%a) : (tensor<2xf32>) -> tensor<2x3xi8>
  return
}
