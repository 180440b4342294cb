// mesh_twice.mlir:4:12: mesh @m twice
module {
  sdy.mesh @m = <["x"=2]>
  sdy.mesh @m = <["x"=2]>
}
