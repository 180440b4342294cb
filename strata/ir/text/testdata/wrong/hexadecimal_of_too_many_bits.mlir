// hexadecimal_of_too_many_bits.mlir:2:31: more bits than f32 has
module attributes {strata.a = 0x100000000 : f32} {
}
