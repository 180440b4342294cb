// collective_broadcast/c3.mlir:3:3: collective_broadcast: needs an operand, got 0 (C3)
func.func @main() {
  "stablehlo.collective_broadcast"() <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : () -> ()
  return
}
