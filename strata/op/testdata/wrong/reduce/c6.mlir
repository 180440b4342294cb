// reduce/c6.mlir:3:8: reduce: elements of f32 cannot be combined in i32 (C6)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<f32>) {
  %0 = "stablehlo.reduce"(%a, %b) <{dimensions = array<i64: 1>}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%r) : (tensor<i32>) -> ()
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}
