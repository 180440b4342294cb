// chlo.top_k/c2.mlir:3:10: top_k: k must be between 0 and the last dimension of tensor<3xf32>, got 4 (C2)
func.func @main(%a: tensor<3xf32>) {
  %0:2 = "chlo.top_k"(%a) <{k = 4 : i64}> : (tensor<3xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  return
}
