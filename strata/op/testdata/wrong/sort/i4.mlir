// sort/i4.mlir:3:8: sort: expected a comparator, got 0 regions
func.func @main(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64, is_stable = true}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
