// concatenate/c3.mlir:3:8: concatenate: (C3) expected at least one operand, got 0
func.func @main() {
  %0 = "stablehlo.concatenate"() <{dimension = 0 : i64}> : () -> tensor<3x3xf32>
  return
}
