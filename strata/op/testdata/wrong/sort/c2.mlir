// sort/c2.mlir:3:8: stablehlo.sort: result 0 is tensor<2x4xf32>, but tensor<2x3xf32> is inferred (C2)
func.func @main(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%r) : (tensor<i1>) -> ()
  }) : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}
