// map/i3.mlir:3:8: map: expected one region, got 0
func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  %0 = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
