// fraction_of_an_integer.mlir:2:24: a fraction of type i32
module attributes {a = 1.5 : i32} {
}
