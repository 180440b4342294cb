module attributes {mhlo.num_partitions = 16 : i32} {
  func.func @main(%a: tensor<60000000x4096xbf16> {mhlo.sharding = "{devices=[16,1]<=[16]}"}, %b: tensor<4096x4096xbf16> {mhlo.sharding = "{devices=[16,1]<=[16]}"}) -> tensor<60000000x4096xbf16> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<60000000x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<60000000x4096xbf16>
    return %0 : tensor<60000000x4096xbf16>
  }
}
