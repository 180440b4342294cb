// branch_between_blocks.mlir:3:3: operation cf.br is not supported
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  cf.br ^bb1(%x : tensor<f32>)
^bb1(%y: tensor<f32>):
  return %y : tensor<f32>
}
