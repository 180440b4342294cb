// string_escape.mlir:2:30: unknown escape in a string
module attributes {x.y = "a\q"} {
}
