// resource_of_another_size.mlir:3:42: resource 'w' has 4 bytes for tensor<2xf32>
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.constant dense_resource<w> : tensor<2xf32>
  return
}
{-#
  dialect_resources: {builtin: {w: "0x040000000000803F"}}
#-}
