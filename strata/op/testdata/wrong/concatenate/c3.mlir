// concatenate/c3.mlir:3:8: concatenate: expected at least one operand, got 0 (C3)
func.func @main() {
  %0 = "stablehlo.concatenate"() <{dimension = 0 : i64}> : () -> tensor<3x3xf32>
  return
}
