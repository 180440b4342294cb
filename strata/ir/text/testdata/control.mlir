module @jit_f attributes {mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32> {jax.buffer_donor = true}, %arg1: tensor<i32>, %arg2: tensor<i1>) -> (tensor<3xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<3xf32>
    %0:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0) : tensor<i32>, tensor<3xf32>
    cond {
      %c_1 = stablehlo.constant dense<2> : tensor<i32>
      %4 = stablehlo.compare LT, %iterArg, %arg1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %c_1 = stablehlo.constant dense<1> : tensor<i32>
      %c_2 = stablehlo.constant dense<2> : tensor<i32>
      %4 = stablehlo.add %iterArg, %c_1 : tensor<i32>
      %5 = func.call @"my fun"(%iterArg_0, %cst) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %6:2 = stablehlo.while(%iterArg_3 = %4, %iterArg_4 = %5) : tensor<i32>, tensor<3xf32> attributes {note.trip = 3 : i64}
      cond {
        %7 = stablehlo.compare LT, %iterArg_3, %arg1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %7 : tensor<i1>
      } do {
        %c_5 = stablehlo.constant dense<5> : tensor<i32>
        %7 = stablehlo.add %iterArg_3, %c_5 : tensor<i32>
        %8 = stablehlo.add %iterArg_4, %iterArg_0 : tensor<3xf32>
        stablehlo.return %7, %8 : tensor<i32>, tensor<3xf32>
      }
      stablehlo.return %4, %6#1 : tensor<i32>, tensor<3xf32>
    }
    %1 = "stablehlo.case"(%0#0) ({
      stablehlo.return %arg0 : tensor<3xf32>
    }, {
      %4 = stablehlo.add %0#1, %cst : tensor<3xf32>
      stablehlo.return %4 : tensor<3xf32>
    }) : (tensor<i32>) -> tensor<3xf32>
    %2:2 = "stablehlo.if"(%arg2) ({
      stablehlo.return %1, %arg1 : tensor<3xf32>, tensor<i32>
    }, {
      %c_0 = stablehlo.constant dense<7> : tensor<i32>
      stablehlo.return %0#1, %c_0 : tensor<3xf32>, tensor<i32>
    }) {note.branch} : (tensor<i1>) -> (tensor<3xf32>, tensor<i32>)
    %3 = call @twice(%2#0, %2#1) : (tensor<3xf32>, tensor<i32>) -> tensor<3xf32>
    call @nothing() : () -> ()
    return %3 : tensor<3xf32>
  }
  func.func private @"my fun"(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.multiply %arg0, %arg1 : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
  func.func private @twice(%arg0: tensor<3xf32>, %arg1: tensor<i32>) -> tensor<3xf32> {
    %0 = call @"my fun"(%arg0, %arg0) {note.x = 1 : i64} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
  func.func private @nothing() {
    return
  }
}
