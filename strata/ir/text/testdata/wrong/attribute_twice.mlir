// ?
module attributes {x.y = 1 : i32, x.y = 2 : i32} {
}
