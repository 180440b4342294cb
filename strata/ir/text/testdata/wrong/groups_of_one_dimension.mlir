// groups_of_one_dimension.mlir:3:8: attribute 'replica_groups' of stablehlo.all_to_all is tensor<1xi64>, which is no tensor<?x?xi64>
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.all_to_all"(%a) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 1 : i64, replica_groups = dense<0> : tensor<1xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
