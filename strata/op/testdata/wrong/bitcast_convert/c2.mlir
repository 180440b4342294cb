// bitcast_convert/c2.mlir:3:8: bitcast_convert: cannot reinterpret tensor<2xcomplex<f32>> as tensor<2xi64> (C2)
func.func @main(%a: tensor<2xcomplex<f32>>) {
  %0 = "stablehlo.bitcast_convert"(%a) : (tensor<2xcomplex<f32>>) -> tensor<2xi64>
  return
}
