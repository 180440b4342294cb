// number_of_too_many_digits.mlir:2:24: a number that cannot be read
module attributes {a = 0x11111111111111111 : i64} {
}
