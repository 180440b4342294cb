// no_attribute.mlir:2:26: 'frob' is no attribute
module attributes {x.y = frob} {
}
