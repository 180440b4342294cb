// function_returns_another_type.mlir:2:50: function @f returns tensor<2xf32>, but is declared to return tensor<3xf32>
func.func @f(%a: tensor<2xf32>) -> tensor<3xf32> {
  return %a : tensor<2xf32>
}
