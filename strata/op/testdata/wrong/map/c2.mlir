// map/c2.mlir:3:8: map: expected at least one input, got 0 (C2)
func.func @main() {
  %0 = "stablehlo.map"() <{dimensions = array<i64: 0>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : () -> tensor<2xf32>
  return
}
