module {
  func.func public @main(%arg0: tensor<8192x64xf32>, %arg1: tensor<64x32768xf32>) -> tensor<8192xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8192x64xf32>, tensor<64x32768xf32>) -> tensor<8192x32768xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<8192x32768xf32>, tensor<f32>) -> tensor<8192xf32>
    return %1 : tensor<8192xf32>
  }
}
// -----
module {
  func.func public @main(%arg0: tensor<8192x64xf32>, %arg1: tensor<64x32768xf32>) -> tensor<8192xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reshape %arg0 : (tensor<8192x64xf32>) -> tensor<16x512x64xf32>
    %1 = "strata.scan"(%arg1, %0) <{length = 16 : i64, num_carry = 0 : i64, num_consts = 1 : i64, reverse = false}> ({
    ^bb0(%arg2: tensor<64x32768xf32>, %arg3: tensor<512x64xf32>):
      %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %3 = stablehlo.dot_general %arg3, %arg2, contracting_dims = [1] x [0] : (tensor<512x64xf32>, tensor<64x32768xf32>) -> tensor<512x32768xf32>
      %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<512x32768xf32>, tensor<f32>) -> tensor<512xf32>
      stablehlo.return %4 : tensor<512xf32>
    }) : (tensor<64x32768xf32>, tensor<16x512x64xf32>) -> tensor<16x512xf32>
    %2 = stablehlo.reshape %1 : (tensor<16x512xf32>) -> tensor<8192xf32>
    return %2 : tensor<8192xf32>
  }
}
