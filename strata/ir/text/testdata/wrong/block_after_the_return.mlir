// block_after_the_return.mlir:4:1: regions of several blocks are not supported
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
^bb1(%y: tensor<f32>):
  return %y : tensor<f32>
}
