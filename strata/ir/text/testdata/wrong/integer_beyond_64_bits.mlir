// ?
module attributes {x.y = 99999999999999999999} {
}
