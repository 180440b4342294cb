// if/i2.mlir:3:8: if: needs two branches, got 0
func.func @main(%a: tensor<i1>) {
  %0 = "stablehlo.if"(%a) : (tensor<i1>) -> tensor<2xf32>
  return
}
