// sharding_of_another_kind.mlir:3:8: attribute 'sharding' of sdy.sharding_constraint is #sdy.mesh<["x"=2]>, not #sdy.sharding<...>
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "sdy.sharding_constraint"(%z) <{sharding = #sdy.mesh<["x"=2]>}> : (tensor<f32>) -> tensor<f32>
  return
}
