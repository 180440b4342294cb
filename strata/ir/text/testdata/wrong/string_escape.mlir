// ?
module attributes {x.y = "a\q"} {
}
