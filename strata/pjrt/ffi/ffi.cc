#include "strata/pjrt/ffi/ffi.h"

#include <memory>

#include "strata/op/foreign/foreign.h"
#include "strata/pjrt/ffi/ffi_context.h"
#include "strata/pjrt/ffi/ffi_frame.h"

namespace strata::pjrt {
namespace {

using op::foreign::Bound;
using op::foreign::Buffers;
using op::foreign::Call;

Code code_of(XLA_FFI_Error_Code code) {
  switch (code) {
    case XLA_FFI_Error_Code_CANCELLED: return Code::cancelled;
    case XLA_FFI_Error_Code_INVALID_ARGUMENT:
    case XLA_FFI_Error_Code_OUT_OF_RANGE: return Code::invalid;
    case XLA_FFI_Error_Code_NOT_FOUND: return Code::not_found;
    case XLA_FFI_Error_Code_ALREADY_EXISTS: return Code::exists;
    case XLA_FFI_Error_Code_PERMISSION_DENIED:
    case XLA_FFI_Error_Code_UNAUTHENTICATED: return Code::denied;
    case XLA_FFI_Error_Code_RESOURCE_EXHAUSTED: return Code::no_space;
    case XLA_FFI_Error_Code_UNIMPLEMENTED: return Code::unsupported;
    case XLA_FFI_Error_Code_DATA_LOSS: return Code::corrupt;
    default: return Code::io;
  }
}

/// Takes the error.
Status status_of(XLA_FFI_Error* error, FfiRun* run) {
  if (error == nullptr) return Status();
  std::unique_ptr<XLA_FFI_Error> owned(error);
  if (run != nullptr) run->error_code = owned->code;
  return Status(code_of(owned->code), std::move(owned->message));
}

Status wait(XLA_FFI_Future* future, FfiRun* run) {
  std::unique_ptr<XLA_FFI_Future> owned(future);
  XLA_FFI_Error* error;
  {
    std::unique_lock lock(owned->mutex);
    owned->changed.wait(lock, [&] { return owned->done; });
    error = owned->error;
  }
  return status_of(error, run);
}

Status call(XLA_FFI_Handler* handler, XLA_FFI_CallFrame& frame, XLA_FFI_ExecutionContext& context,
            XLA_FFI_ExecutionStage stage) {
  if (handler == nullptr) return Status();
  frame.api = &ffi_api();
  frame.ctx = &context;
  frame.stage = stage;
  frame.future = nullptr;
  Status status = status_of(handler(&frame), context.run);
  if (frame.future == nullptr) return status;
  Status later = wait(frame.future, context.run);
  return status.ok() ? later : status;
}

/// What is kept of one description: its attributes, and the state that `instantiate` made.
class Instance {
 public:
  Instance(const XLA_FFI_Handler_Bundle& handlers, const Call& call,
           const op::foreign::Dictionary& attributes)
      : handlers_(handlers), attributes_(attributes), signature_(call) {}

  /// Arguments are not known yet.
  Status instantiate() {
    XLA_FFI_ExecutionContext context{.run = run(), .states = {&state_, nullptr, nullptr}};
    XLA_FFI_CallFrame frame{.struct_size = kXlaFfiCallFrameSize,
                            .args = {sizeof(XLA_FFI_Args), nullptr, 0, nullptr, nullptr},
                            .rets = {sizeof(XLA_FFI_Rets), nullptr, 0, nullptr, nullptr},
                            .attrs = attributes_.attrs};
    return call(handlers_.instantiate, frame, context, XLA_FFI_ExecutionStage_INSTANTIATE);
  }

  Status execute(const Buffers& at, void* run) {
    FfiState prepared, initialized;
    XLA_FFI_ExecutionContext context{.run = static_cast<FfiRun*>(run),
                                     .states = {&state_, &prepared, &initialized}};
    FfiFrame frame(signature_, attributes_.attrs, at);
    Status status = call(handlers_.prepare, frame.frame, context, XLA_FFI_ExecutionStage_PREPARE);
    if (status.ok())
      status = call(handlers_.initialize, frame.frame, context, XLA_FFI_ExecutionStage_INITIALIZE);
    if (status.ok())
      status = call(handlers_.execute, frame.frame, context, XLA_FFI_ExecutionStage_EXECUTE);
    if (status.ok()) frame.finish();
    return status;
  }

 private:
  static FfiRun* run() { return static_cast<FfiRun*>(op::foreign::current_context()); }
  XLA_FFI_Handler_Bundle handlers_;
  FfiAttributes attributes_;
  FfiSignature signature_;
  FfiState state_;
};

Status expect_types(const Call& call) {
  for (const std::vector<Type>* types : {&call.operands, &call.results})
    for (const Type& t : *types)
      if (ffi_dtype(t) == XLA_FFI_DataType_INVALID)
        return Status(Code::unsupported, "XLA's FFI has no buffers of {}", t.to_string());
  return Status();
}

/// Asks a handler what it was compiled with.
Status expect_version(const std::string& name, XLA_FFI_Handler* handler) {
  if (handler == nullptr) return Status();
  XLA_FFI_Metadata metadata{.struct_size = sizeof(XLA_FFI_Metadata),
                            .api_version = {sizeof(XLA_FFI_Api_Version), nullptr, -1, -1}};
  XLA_FFI_Metadata_Extension extension{
      .base = {sizeof(XLA_FFI_Metadata_Extension), XLA_FFI_Extension_Metadata, nullptr},
      .metadata = &metadata};
  XLA_FFI_CallFrame frame{.struct_size = kXlaFfiCallFrameSize,
                          .extension_start = &extension.base,
                          .api = &ffi_api(),
                          .stage = XLA_FFI_ExecutionStage_EXECUTE};
  Status status = status_of(handler(&frame), nullptr);
  if (!status.ok())
    return Status(status.code(), "the handler of '{}' does not say its version: {}", name,
                  status.message());
  if (metadata.api_version.major_version != kXlaFfiMajor)
    return Status(Code::unsupported, "the handler of '{}' speaks FFI {}.{}, expected {}", name,
                  metadata.api_version.major_version, metadata.api_version.minor_version,
                  kXlaFfiMajor);
  return Status();
}

}  // namespace

Status register_ffi(const std::string& name, const XLA_FFI_Handler_Bundle& handlers) {
  if (handlers.execute == nullptr)
    return Status(Code::invalid, "'{}' has no handler that executes it", name);
  for (XLA_FFI_Handler* h :
       {handlers.instantiate, handlers.prepare, handlers.initialize, handlers.execute})
    if (Status status = expect_version(name, h); !status.ok()) return status;
  op::foreign::add_handler(name, [handlers](const Call& call) -> Result<Bound> {
    Result<op::foreign::Dictionary> attributes = op::foreign::attributes_of(call.attrs);
    if (!attributes) return attributes.status();
    if (Status status = expect_types(call); !status.ok()) return status;
    auto instance = std::make_shared<Instance>(handlers, call, *attributes);
    if (Status status = instance->instantiate(); !status.ok()) return status;
    return Bound(
        [instance](const Buffers& at, void* context) { return instance->execute(at, context); });
  });
  return Status();
}

}  // namespace strata::pjrt
