module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3x4xf32>, %arg2: tensor<f32>, %arg3: tensor<2x3xi32>, %arg4: tensor<i32>, %arg5: tensor<2x3xf32>) -> tensor<2xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.dot_general %arg0, %arg5, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [HIGHEST, DEFAULT] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
    %2 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [] x [] {note.x = 1 : i64} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x3x3x4xf32>
    %3 = stablehlo.dot_general %arg3, %arg3, contracting_dims = [0] x [0] : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<3x3xi32>
    %4 = stablehlo.reduce(%arg0 init: %arg2) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %5 = stablehlo.reduce(%arg0 init: %arg2) applies stablehlo.maximum across dimensions = [0, 1] {note.x = 2 : i64} : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
    %6 = stablehlo.reduce(%arg3 init: %arg4) applies stablehlo.or across dimensions = [0] : (tensor<2x3xi32>, tensor<i32>) -> tensor<3xi32>
    %7 = stablehlo.reduce(%arg0 init: %arg2) across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
     reducer(%arg6: tensor<f32>, %arg7: tensor<f32>)  {
      %9 = stablehlo.add %arg7, %arg6 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }
    %8:2 = stablehlo.reduce(%arg0 init: %arg2), (%arg3 init: %arg4) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
     reducer(%arg6: tensor<f32>, %arg8: tensor<f32>) (%arg7: tensor<i32>, %arg9: tensor<i32>)  {
      %9 = stablehlo.compare GT, %arg6, %arg8, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %10 = stablehlo.select %9, %arg6, %arg8 : tensor<i1>, tensor<f32>
      %11 = stablehlo.select %9, %arg7, %arg9 : tensor<i1>, tensor<i32>
      stablehlo.return %10, %11 : tensor<f32>, tensor<i32>
    }
    return %8#0 : tensor<2xf32>
  }
}
