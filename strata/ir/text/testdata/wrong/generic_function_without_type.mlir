// generic_function_without_type.mlir:3:3: a function requires sym_name and function_type
"builtin.module"() ({
  "func.func"() <{sym_name = "f"}> ({
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
