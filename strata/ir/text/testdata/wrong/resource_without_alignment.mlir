// resource_without_alignment.mlir:3:42: resource 'w' is no "0x..." with an alignment
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.constant dense_resource<w> : tensor<2xf32>
  return
}
{-#
  dialect_resources: {builtin: {w: "04"}}
#-}
