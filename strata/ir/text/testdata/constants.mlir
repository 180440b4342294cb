module @constants attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32} {
  func.func public @main() -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<2xi32>) attributes {note.array = array<i32: 1, 2>, note.list = [1, 2.500000e+00, "a\22b\\\0A", @f, i32, tensor<2xf32>, {a = 1 : i64, b}], note.more = dense<[1, 2]> : tensor<2xindex>} {
    %cst = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %c = stablehlo.constant dense<1> : tensor<2xi32>
    %cst_0 = stablehlo.constant dense<[[1.000000e-01, 0.949999988], [0xFF800000, 0x7FC00001]]> : tensor<2x2xf32>
    %cst_1 = stablehlo.constant dense<> : tensor<0x3xf32>
    %cst_2 = stablehlo.constant dense<[0x4B800000, 0x4996B438, 9.99999993E-9, -0.000000e+00, 3.40282347E+38, 1.401300e-45, 0.949999988]> : tensor<7xf32>
    %cst_3 = stablehlo.constant dense<[1.099610e+00, 3.300780e+00, 6.550400e+04, 5.960460e-08, 3.332520e-01]> : tensor<5xf16>
    %cst_4 = stablehlo.constant dense<[1.101560e+00, 3.296880e+00, 6.553600e+04, 6.007030e-08, 3.339840e-01]> : tensor<5xbf16>
    %cst_5 = stablehlo.constant dense<[1.100000e+00, 0.33333333333333331, 4.940660e-324, 0x419D6F3454000000, 0x7FF8000000000000]> : tensor<5xf64>
    %c_6 = stablehlo.constant dense<[true, false, false]> : tensor<3xi1>
    %c_7 = stablehlo.constant dense<true> : tensor<3x3xi1>
    %c_8 = stablehlo.constant dense<[-128, 127]> : tensor<2xi8>
    %c_9 = stablehlo.constant dense<[0, 18446744073709551615]> : tensor<2xui64>
    %c_10 = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807]> : tensor<2xi64>
    %cst_11 = stablehlo.constant dense<[(1.000000e+00,2.000000e+00), (-0.000000e+00,1.000000e-01)]> : tensor<2xcomplex<f32>>
    %cst_12 = stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<2xcomplex<f32>>
    %c_13 = stablehlo.constant dense<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F60616263646566"> : tensor<103xui8>
    %c_14 = stablehlo.constant dense<"0x0100000100000101010001000001010000000100010000010000010101000100000101000000010001000001000001010100010000010100000001000100000100000101010001000001010000000100010000010000010101000100000101000000010001"> : tensor<101xi1>
    %c_15 = stablehlo.constant {"note with space" = true, note.h = 16 : i16, note.x = 3 : i8, note.y = 1.500000e+00 : f32, note.z = -1.000000e+00 : f64} dense<3> : tensor<ui32>
    return %cst, %c : tensor<f32>, tensor<2xi32>
  }
}
