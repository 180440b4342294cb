// rng/c2.mlir:3:8: rng: NORMAL takes floats, got tensor<i32> (C2)
func.func @main(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<1xi64>) {
  %0 = "stablehlo.rng"(%a, %b, %c) <{rng_distribution = #stablehlo<rng_distribution NORMAL>}> : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<3xi32>
  return
}
