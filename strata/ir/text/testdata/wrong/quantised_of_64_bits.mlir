// quantised_of_64_bits.mlir:2:46: storage type i64 has more than 32 bits
func.func private @f(tensor<2x!quant.uniform<i64:f32, 0.5>>)
