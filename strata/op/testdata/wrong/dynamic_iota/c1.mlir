// dynamic_iota/c1.mlir:3:8: dynamic_iota: iota_dimension 1 is outside of tensor<3xf32> (C1)
func.func @main(%a: tensor<1xi32>) {
  %0 = "stablehlo.dynamic_iota"(%a) <{iota_dimension = 1 : i64}> : (tensor<1xi32>) -> tensor<3xf32>
  return
}
