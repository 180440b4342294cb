// alias_not_defined.mlir:2:28: attribute alias #a is not defined
module attributes {x.y = #a} {
}
