// scan_that_does_not_split.mlir:3:10: attribute 'operandSegmentSizes' of chlo.scan is array<i32: 1, 5>, which does not split 2 values
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0:2 = "chlo.scan"(%a, %z) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 5>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<f32>, %s: tensor<f32>):
    stablehlo.return %x, %s : tensor<f32>, tensor<f32>
  }) : (tensor<2xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>)
  return
}
