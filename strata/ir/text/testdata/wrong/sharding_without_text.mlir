// sharding_without_text.mlir:3:8: attribute 'sharding' of sdy.sharding_constraint is 1 : i64, which is no attribute of sdy
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = "sdy.sharding_constraint"(%x) <{sharding = 1 : i64}> : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
