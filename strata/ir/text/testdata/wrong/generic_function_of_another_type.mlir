// generic_function_of_another_type.mlir:3:3: function @f takes (), but its type says (tensor<f32>)
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<f32>) -> (), sym_name = "f"}> ({
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
