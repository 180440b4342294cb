// reduce/c1.mlir:3:10: reduce: inputs must have one shape, got tensor<2x3xf32> and tensor<3x3xf32> (C1)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x3xf32>, %c: tensor<f32>, %d: tensor<f32>) {
  %0:2 = "stablehlo.reduce"(%a, %b, %c, %d) <{dimensions = array<i64: 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r, %r) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<2x3xf32>, tensor<3x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}
