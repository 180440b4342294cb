// dynamic_iota/c2.mlir:3:8: dynamic_iota: output_shape must have 1 entries, got tensor<2xi32> (C2)
func.func @main(%a: tensor<2xi32>) {
  %0 = "stablehlo.dynamic_iota"(%a) <{iota_dimension = 0 : i64}> : (tensor<2xi32>) -> tensor<3xf32>
  return
}
