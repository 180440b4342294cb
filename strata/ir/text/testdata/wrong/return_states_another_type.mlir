// return_states_another_type.mlir:4:1: returned values are (tensor<2xf32>), but stated to be (tensor<3xf32>)
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<3xf32>
}
