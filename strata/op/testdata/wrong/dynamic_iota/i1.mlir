// dynamic_iota/i1.mlir:3:8: dynamic_iota: output_shape must be integers of rank 1, got tensor<1xf32> (C2)
func.func @main(%a: tensor<1xf32>) {
  %0 = "stablehlo.dynamic_iota"(%a) <{iota_dimension = 0 : i64}> : (tensor<1xf32>) -> tensor<3xf32>
  return
}
