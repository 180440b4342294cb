// while_of_other_arguments.mlir:3:8: the arguments of a region of while differ from its operands (C1, C2)
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }, {
  ^bb0(%x: tensor<2xf32>):
    stablehlo.return %x : tensor<2xf32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
