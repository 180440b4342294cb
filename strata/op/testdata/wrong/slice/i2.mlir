// slice/i2.mlir:3:8: stablehlo.slice requires attribute 'start_indices'
func.func @main(%a: tensor<4xf32>) {
  %0 = "stablehlo.slice"(%a) <{limit_indices = array<i64: 4>, strides = array<i64: 2>}> : (tensor<4xf32>) -> tensor<2xf32>
  return
}
