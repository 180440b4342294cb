// scan_of_other_carries.mlir:3:10: scan takes and returns different numbers of carries
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0:2 = "chlo.scan"(%a, %z) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 2, 0>}> ({
  ^bb0(%x: tensor<f32>, %s: tensor<f32>):
    stablehlo.return %x, %s : tensor<f32>, tensor<f32>
  }) : (tensor<2xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>)
  return
}
