// successor_blocks.mlir:3:30: successor blocks are not supported
func.func @f(%x: tensor<f32>) {
  "stablehlo.custom_call"(%x)[^bb1] : (tensor<f32>) -> ()
  return
}
