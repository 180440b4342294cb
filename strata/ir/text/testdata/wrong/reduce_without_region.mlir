// reduce_without_region.mlir:3:8: reduce has no region
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 0>, combiner = "assign"}> : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return
}
