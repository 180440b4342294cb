module {
  func.func public @main(%arg0: tensor<5x3xf32>) -> tensor<3xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %c_1 = stablehlo.constant dense<5> : tensor<i32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<3xf32>
    %0:3 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %c, %iterArg_3 = %cst) : tensor<5x3xf32>, tensor<i32>, tensor<3xf32>
    cond {
      %1 = stablehlo.compare LT, %iterArg_2, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.dynamic_slice %iterArg, %iterArg_2, %c, sizes = [1, 3] : (tensor<5x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
      %2 = stablehlo.reshape %1 : (tensor<1x3xf32>) -> tensor<3xf32>
      %3 = stablehlo.add %iterArg_3, %2 : tensor<3xf32>
      %4 = stablehlo.add %iterArg_2, %c_0 : tensor<i32>
      stablehlo.return %iterArg, %4, %3 : tensor<5x3xf32>, tensor<i32>, tensor<3xf32>
    }
    return %0#2 : tensor<3xf32>
  }
}
// -----
module {
  func.func public @main(%arg0: tensor<5x3xf32>) -> tensor<3xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %c_1 = stablehlo.constant dense<5> : tensor<i32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<3xf32>
    %0:3 = "strata.scan"(%arg0, %c, %cst) <{length = 5 : i64, num_carry = 3 : i64, num_consts = 0 : i64, reverse = false}> ({
    ^bb0(%arg1: tensor<5x3xf32>, %arg2: tensor<i32>, %arg3: tensor<3xf32>):
      %c_2 = stablehlo.constant dense<0> : tensor<i32>
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.dynamic_slice %arg1, %arg2, %c_2, sizes = [1, 3] : (tensor<5x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
      %2 = stablehlo.reshape %1 : (tensor<1x3xf32>) -> tensor<3xf32>
      %3 = stablehlo.add %arg3, %2 : tensor<3xf32>
      %4 = stablehlo.add %arg2, %c_3 : tensor<i32>
      stablehlo.return %arg1, %4, %3 : tensor<5x3xf32>, tensor<i32>, tensor<3xf32>
    }) : (tensor<5x3xf32>, tensor<i32>, tensor<3xf32>) -> (tensor<5x3xf32>, tensor<i32>, tensor<3xf32>)
    return %0#2 : tensor<3xf32>
  }
}
