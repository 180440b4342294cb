#include "strata/pjrt/ffi/ffi_extension.h"

#include "strata/pjrt/error.h"
#include "strata/pjrt/executable.h"

namespace strata::pjrt {

void FFI_Type_Register(PJRT_FFI_Type_Register_Args& args) {
  auto id = register_ffi_type({args.type_name, args.type_name_size}, args.type_id,
                              args.type_info ? args.type_info->deleter : nullptr);
  if (!id) fail(id.status());
  args.type_id = *id;
}

void FFI_UserData_Add(PJRT_FFI_UserData_Add_Args& args) {
  if (args.context == nullptr)
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "no context to add user data to");
  args.context->user_data.add(args.user_data.type_id, args.user_data.data);
}

void FFI_Register_Handler(PJRT_FFI_Register_Handler_Args& args) {
  if (args.handler == nullptr) fail(PJRT_Error_Code_INVALID_ARGUMENT, "no handler");
  const std::string name(args.target_name, args.target_name_size);
  if (Status s = register_ffi(name, {.execute = reinterpret_cast<XLA_FFI_Handler*>(args.handler)});
      !s.ok())
    fail(s);
}

}  // namespace strata::pjrt
