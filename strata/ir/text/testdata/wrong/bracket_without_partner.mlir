// ?
module attributes {x.y = #d.e<1, 2} {
}
