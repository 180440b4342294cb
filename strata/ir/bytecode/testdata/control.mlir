// Loops, branches, calls, tuples, tokens.
module @control {
  func.func public @main(%arg0: tensor<i32>, %arg1: tensor<f32>, %arg2: tensor<i1>) -> (tensor<f32>, tensor<f32>) {
    %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<i32>, tensor<f32>
    cond {
      %c = stablehlo.constant dense<10> : tensor<i32>
      %7 = stablehlo.compare LT, %iterArg, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %c = stablehlo.constant dense<1> : tensor<i32>
      %7 = stablehlo.add %iterArg, %c : tensor<i32>
      %8 = stablehlo.multiply %iterArg_0, %arg1 : tensor<f32>
      stablehlo.return %7, %8 : tensor<i32>, tensor<f32>
    }
    %1 = "stablehlo.if"(%arg2) ({
      %7 = stablehlo.add %arg1, %0#1 : tensor<f32>
      stablehlo.return %7 : tensor<f32>
    }, {
      stablehlo.return %arg1 : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    %2:2 = "stablehlo.case"(%arg0) ({
      stablehlo.return %1, %arg1 : tensor<f32>, tensor<f32>
    }, {
      %7 = "stablehlo.if"(%arg2) ({
        stablehlo.return %arg1 : tensor<f32>
      }, {
        stablehlo.return %1 : tensor<f32>
      }) : (tensor<i1>) -> tensor<f32>
      stablehlo.return %7, %7 : tensor<f32>, tensor<f32>
    }) : (tensor<i32>) -> (tensor<f32>, tensor<f32>)
    %3:2 = call @"a function"(%2#0, %2#1) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
    %4 = stablehlo.tuple %3#0, %arg0 : tuple<tensor<f32>, tensor<i32>>
    %5 = stablehlo.get_tuple_element %4[0] : (tuple<tensor<f32>, tensor<i32>>) -> tensor<f32>
    %6 = call @tokens() : () -> !stablehlo.token
    return %5, %3#1 : tensor<f32>, tensor<f32>
  }
  func.func private @"a function"(%arg0: tensor<f32>, %arg1: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    return %arg1, %arg0 : tensor<f32>, tensor<f32>
  }
  func.func private @tokens() -> !stablehlo.token {
    %0 = stablehlo.create_token : !stablehlo.token
    %1:2 = "stablehlo.infeed"(%0) <{infeed_config = "here", layout = [[0, 1]]}> : (!stablehlo.token) -> (tensor<2x2xf32>, !stablehlo.token)
    %2 = "stablehlo.outfeed"(%1#0, %1#1) <{outfeed_config = "there"}> : (tensor<2x2xf32>, !stablehlo.token) -> !stablehlo.token
    %3 = "stablehlo.outfeed"(%1#0, %2) <{outfeed_config = ""}> : (tensor<2x2xf32>, !stablehlo.token) -> !stablehlo.token
    %4 = stablehlo.after_all %2, %3 : !stablehlo.token
    return %4 : !stablehlo.token
  }
}
