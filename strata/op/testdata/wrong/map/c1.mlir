// map/c1.mlir:3:8: map: inputs must have one shape, got tensor<2xf32> and tensor<3xf32> (C1)
func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  %0 = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}
