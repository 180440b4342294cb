// precision_word.mlir:3:8: precision 'FAST' is none of DEFAULT HIGH HIGHEST
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0], precision = [FAST, FAST] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  return
}
