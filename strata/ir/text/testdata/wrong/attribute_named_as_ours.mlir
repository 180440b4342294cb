// attribute_named_as_ours.mlir:2:20: 'strata mesh @x' is no name of an attribute
module attributes {"strata mesh @x" = 1} {
}
