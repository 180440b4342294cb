// slice/i3.mlir:3:8: stablehlo.slice requires attribute 'limit_indices'
func.func @main(%a: tensor<4xf32>) {
  %0 = "stablehlo.slice"(%a) <{start_indices = array<i64: 0>, strides = array<i64: 2>}> : (tensor<4xf32>) -> tensor<2xf32>
  return
}
