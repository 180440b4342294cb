// ?
module attributes {x.y = frob} {
}
