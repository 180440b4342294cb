
module @has_dynamic_root {
  func.func @collective_broadcast(%operand: tensor<1x2xi64>,
                                  %root: tensor<1xi32>) -> tensor<1x2xi64> {
    %result = "stablehlo.collective_broadcast"(%operand, %root) {
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
      has_dynamic_root
    } : (tensor<1x2xi64>, tensor<1xi32>) -> tensor<1x2xi64>
    func.return %result : tensor<1x2xi64>
  }
  func.func @main() {
    %operand0 = stablehlo.constant dense<[[1, 2]]> : tensor<1x2xi64>
    %operand1 = stablehlo.constant dense<[[3, 4]]> : tensor<1x2xi64>
    // root[0] = 1 → source is process_groups[0, 1] = process 1.
    %root = stablehlo.constant dense<[1]> : tensor<1xi32>
    // Inputs ordered per-process: [p0_operand, p0_root, p1_operand, p1_root].
    %results:2 = "interpreter.run_parallel"(%operand0, %root, %operand1, %root) {
      programs = [[@collective_broadcast], [@collective_broadcast]]
    } : (tensor<1x2xi64>, tensor<1xi32>, tensor<1x2xi64>, tensor<1xi32>)
        -> (tensor<1x2xi64>, tensor<1x2xi64>)
    check.expect_eq_const %results#0, dense<[[3, 4]]> : tensor<1x2xi64>
    check.expect_eq_const %results#1, dense<[[3, 4]]> : tensor<1x2xi64>
    func.return
  }
}

