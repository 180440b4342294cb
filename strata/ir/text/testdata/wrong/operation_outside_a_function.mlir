// operation_outside_a_function.mlir:2:1: operation stablehlo.frob is not supported
"stablehlo.frob"() : () -> ()
