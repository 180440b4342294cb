// no_operation.mlir:3:8: 'foo.bar' is no operation
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = foo.bar %a : tensor<2xf32>
  return
}
