// chlo.top_k/c1.mlir:3:10: top_k: the operand must have a dimension, got tensor<f32> (C1)
func.func @main(%a: tensor<f32>) {
  %0:2 = "chlo.top_k"(%a) <{k = 2 : i64}> : (tensor<f32>) -> (tensor<2xf32>, tensor<2xi32>)
  return
}
