// function_without_return.mlir:4:1: a function ends without a return
func.func @f(%a: tensor<2xf32>) {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
}
