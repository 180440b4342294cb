// sort/c1.mlir:3:3: sort: expected at least one input, got 0 (C1)
func.func @main() {
  "stablehlo.sort"() <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%r) : (tensor<i1>) -> ()
  }) : () -> ()
  return
}
