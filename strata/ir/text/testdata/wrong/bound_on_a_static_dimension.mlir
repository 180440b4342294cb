// ?
func.func @f(%a: tensor<4xf32, #stablehlo.bounds<8>>) {
  return
}
