// bracket_without_partner.mlir:2:31: '<' without its '>'
module attributes {x.y = #d.e<1, 2} {
}
