// number_that_the_type_lacks.mlir:2:24: a number that cannot be read
module attributes {a = -1.0 : f8E8M0FNU} {
}
