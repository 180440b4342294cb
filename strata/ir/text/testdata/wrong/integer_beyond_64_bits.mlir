// integer_beyond_64_bits.mlir:2:26: integer '99999999999999999999' does not fit 64 bits
module attributes {x.y = 99999999999999999999} {
}
