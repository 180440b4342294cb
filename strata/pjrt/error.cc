#include "strata/pjrt/error.h"

#include "strata/pjrt/functions.h"

namespace strata::pjrt {

PJRT_Error_Code code_of(Code code) {
  switch (code) {
    case Code::not_found: return PJRT_Error_Code_NOT_FOUND;
    case Code::exists: return PJRT_Error_Code_ALREADY_EXISTS;
    case Code::denied: return PJRT_Error_Code_PERMISSION_DENIED;
    case Code::no_space: return PJRT_Error_Code_RESOURCE_EXHAUSTED;
    case Code::corrupt: return PJRT_Error_Code_DATA_LOSS;
    case Code::invalid: return PJRT_Error_Code_INVALID_ARGUMENT;
    case Code::unsupported: return PJRT_Error_Code_UNIMPLEMENTED;
    case Code::cancelled: return PJRT_Error_Code_CANCELLED;
    case Code::io: return PJRT_Error_Code_UNAVAILABLE;
    case Code::ok: break;
  }
  return PJRT_Error_Code_INTERNAL;
}

void fail(const Status& status) { throw Failure({{}, code_of(status.code()), status.message()}); }

void Error_Destroy(PJRT_Error_Destroy_Args& args) { delete args.error; }
void Error_Message(PJRT_Error_Message_Args& args) {
  args.message = args.error->message.data();
  args.message_size = args.error->message.size();
}
void Error_GetCode(PJRT_Error_GetCode_Args& args) { args.code = args.error->code; }
void Error_ForEachPayload(PJRT_Error_ForEachPayload_Args&) {}  // there is none

}  // namespace strata::pjrt
