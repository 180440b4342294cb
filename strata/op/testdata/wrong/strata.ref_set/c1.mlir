// strata.ref_set/c1.mlir:3:3: ref_set: !strata.ref<2xf32> cannot hold tensor<3xf32> (C1)
func.func @main(%a: !strata.ref<2xf32>, %b: tensor<3xf32>) {
  "strata.ref_set"(%a, %b) : (!strata.ref<2xf32>, tensor<3xf32>) -> ()
  return
}
