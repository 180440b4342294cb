// chlo.scan/c2.mlir:3:10: scan: tensor<3xf32> has not the size 4 along dimension 0 (C2)
func.func @main(%a: tensor<3xf32>, %b: tensor<f32>) {
  %0:2 = "chlo.scan"(%a, %b) <{dimension = 0 : i64, num_carries = 1 : i64, scan_dim_size = 4 : i64}> ({
    ^bb0(%x: tensor<f32>, %s: tensor<f32>):
      "stablehlo.return"(%x, %s) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<3xf32>, tensor<f32>) -> (tensor<3xf32>, tensor<f32>)
  return
}
