// strata.tgmm/c2.mlir:3:8: tgmm: multiplies two arrays of f32, f64, bf16 or f16 in groups of i32 or i64 sizes, got tensor<4x3xi32>, tensor<4x2xi32> and tensor<2xi32> (C2)
func.func @main(%a: tensor<4x3xi32>, %b: tensor<4x2xi32>, %c: tensor<2xi32>) {
  %0 = "strata.tgmm"(%a, %b, %c) : (tensor<4x3xi32>, tensor<4x2xi32>, tensor<2xi32>) -> tensor<2x3x2xi32>
  return
}
