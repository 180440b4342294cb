// ?
module attributes {x.y = #a} {
}
