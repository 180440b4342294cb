// scan_without_region.mlir:3:10: scan has 0 regions
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0:2 = "chlo.scan"(%a, %z) <{dimension = 0 : i64, num_carries = 1 : i64}> : (tensor<2xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>)
  return
}
