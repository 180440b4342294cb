module {
  func.func public @main(%arg0: tensor<64xf32>, %arg1: tensor<i32>) -> tensor<64xf32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%iterArg = %c_0, %iterArg_1 = %arg0, %iterArg_2 = %arg0) : tensor<i32>, tensor<64xf32>, tensor<64xf32>
    cond {
      %1 = stablehlo.compare LT, %iterArg, %arg1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.exponential %iterArg_1 : tensor<64xf32>
      %2 = stablehlo.add %iterArg_2, %1 : tensor<64xf32>
      %3 = stablehlo.add %iterArg, %c : tensor<i32>
      stablehlo.return %3, %iterArg_1, %2 : tensor<i32>, tensor<64xf32>, tensor<64xf32>
    }
    return %0#2 : tensor<64xf32>
  }
}
// -----
module {
  func.func public @main(%arg0: tensor<64xf32>, %arg1: tensor<i32>) -> tensor<64xf32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.exponential %arg0 : tensor<64xf32>
    %1:2 = stablehlo.while(%iterArg = %c_0, %iterArg_1 = %arg0) : tensor<i32>, tensor<64xf32>
    cond {
      %2 = stablehlo.compare LT, %iterArg, %arg1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = stablehlo.exponential %arg0 : tensor<64xf32>
      %3 = stablehlo.add %iterArg_1, %0 : tensor<64xf32>
      %4 = stablehlo.add %iterArg, %c : tensor<i32>
      stablehlo.return %4, %3 : tensor<i32>, tensor<64xf32>
    }
    return %1#1 : tensor<64xf32>
  }
}
