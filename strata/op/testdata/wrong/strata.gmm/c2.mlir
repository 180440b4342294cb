// strata.gmm/c2.mlir:3:8: gmm: multiplies two arrays of f32, f64, bf16 or f16 in groups of i32 or i64 sizes, got tensor<4x3xf32>, tensor<2x3x2xbf16> and tensor<2xi32> (C2)
func.func @main(%a: tensor<4x3xf32>, %b: tensor<2x3x2xbf16>, %c: tensor<2xi32>) {
  %0 = "strata.gmm"(%a, %b, %c) : (tensor<4x3xf32>, tensor<2x3x2xbf16>, tensor<2xi32>) -> tensor<4x2xf32>
  return
}
