// An axis goes from one dimension to another by all_to_all; parts change places by collective_permute.
sdy.mesh @m = <["x"=2, "y"=2]>
func.func @main(%a: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}, tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {}]>}) {
  return %a, %a : tensor<4x6xf32>, tensor<4x6xf32>
}
