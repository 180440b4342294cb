// attribute_twice.mlir:2:35: attribute 'x.y' twice
module attributes {x.y = 1 : i32, x.y = 2 : i32} {
}
