#include "strata/runtime/plugin/library.h"

#include <dlfcn.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <mutex>

namespace strata::runtime::plugin {
namespace {

constexpr int kOldestMinor = 29;

const char* name_of(Slot slot) {
  switch (slot) {
#define STRATA_PJRT_NAME(slot, name) \
  case slot: return #name;
    STRATA_PJRT_SLOTS(STRATA_PJRT_NAME, STRATA_PJRT_NAME)
#undef STRATA_PJRT_NAME
  }
  return "?";
}

/// absl's name of a code, and ours.
std::pair<const char*, Code> meaning(PJRT_Error_Code code) {
  switch (code) {
    case PJRT_Error_Code_CANCELLED: return {"CANCELLED", Code::cancelled};
    case PJRT_Error_Code_UNKNOWN: return {"UNKNOWN", Code::io};
    case PJRT_Error_Code_INVALID_ARGUMENT: return {"INVALID_ARGUMENT", Code::invalid};
    case PJRT_Error_Code_DEADLINE_EXCEEDED: return {"DEADLINE_EXCEEDED", Code::io};
    case PJRT_Error_Code_NOT_FOUND: return {"NOT_FOUND", Code::not_found};
    case PJRT_Error_Code_ALREADY_EXISTS: return {"ALREADY_EXISTS", Code::exists};
    case PJRT_Error_Code_PERMISSION_DENIED: return {"PERMISSION_DENIED", Code::denied};
    case PJRT_Error_Code_RESOURCE_EXHAUSTED: return {"RESOURCE_EXHAUSTED", Code::no_space};
    case PJRT_Error_Code_FAILED_PRECONDITION: return {"FAILED_PRECONDITION", Code::invalid};
    case PJRT_Error_Code_ABORTED: return {"ABORTED", Code::cancelled};
    case PJRT_Error_Code_OUT_OF_RANGE: return {"OUT_OF_RANGE", Code::invalid};
    case PJRT_Error_Code_UNIMPLEMENTED: return {"UNIMPLEMENTED", Code::unsupported};
    case PJRT_Error_Code_INTERNAL: return {"INTERNAL", Code::io};
    case PJRT_Error_Code_UNAVAILABLE: return {"UNAVAILABLE", Code::io};
    case PJRT_Error_Code_DATA_LOSS: return {"DATA_LOSS", Code::corrupt};
    case PJRT_Error_Code_UNAUTHENTICATED: return {"UNAUTHENTICATED", Code::denied};
  }
  return {"an unknown code", Code::io};
}

Result<const PJRT_Api*> table_of(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return Status(Code::not_found, "no plugin at {}", path);
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return Status(Code::unsupported, "{} is no library that can be loaded: {}", path, ::dlerror());
  const auto get =
      reinterpret_cast<const PJRT_Api* (*)()>(::dlsym(handle, "GetPjrtApi"));  // NOLINT
  if (get == nullptr)
    return Status(Code::unsupported, "{} is no PJRT plugin: it has no GetPjrtApi", path);
  const PJRT_Api* api = get();
  if (api == nullptr || api->struct_size < offsetof(PJRT_Api, slots))
    return Status(Code::unsupported, "{}: GetPjrtApi gives no table", path);
  const PJRT_Api_Version& version = api->pjrt_api_version;
  if (version.major_version != 0 || version.minor_version < kOldestMinor)
    return Status(Code::unsupported, "{} speaks PJRT {}.{}; 0.{} to 0.x are understood", path,
                  version.major_version, version.minor_version, kOldestMinor);
  return api;
}

}  // namespace

Result<LibraryPtr> Library::open(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, LibraryPtr> opened;
  std::lock_guard lock(mutex);
  if (auto it = opened.find(path); it != opened.end()) return it->second;
  auto api = table_of(path);
  if (!api) return api.status();
  LibraryPtr library(new Library(path, *api));
  if (library->has(kPlugin_Initialize)) {
    auto initialize = args<PJRT_Plugin_Initialize_Args>();
    if (Status s = library->call(kPlugin_Initialize, initialize); !s.ok()) return s;
  }
  opened.emplace(path, library);
  return library;
}

bool Library::has(Slot slot) const {
  const std::size_t end =
      offsetof(PJRT_Api, slots) + (static_cast<std::size_t>(slot) + 1) * sizeof(PJRT_Function);
  return end <= api_->struct_size && api_->slots[slot] != nullptr;
}

Status Library::taken(Slot slot, PJRT_Error* error) const {
  if (error == nullptr) return {};
  std::string words = "no message";
  auto [name, code] = std::pair("an unknown code", Code::io);
  if (has(kError_Message)) {
    auto message = args<PJRT_Error_Message_Args>();
    message.error = error;
    api_->slots[kError_Message](&message);
    words.assign(message.message, message.message_size);
  }
  if (has(kError_GetCode)) {
    auto of = args<PJRT_Error_GetCode_Args>();
    of.error = error;
    if (api_->slots[kError_GetCode](&of) == nullptr) std::tie(name, code) = meaning(of.code);
  }
  if (has(kError_Destroy)) {
    auto destroy = args<PJRT_Error_Destroy_Args>();
    destroy.error = error;
    api_->slots[kError_Destroy](&destroy);
  }
  return Status(code, "plugin {}: {}: {}: {}", path_, name_of(slot), name, words);
}

Status Library::call_at(Slot slot, void* args) const {
  if (!has(slot))
    return Status(Code::unsupported, "plugin {} (PJRT 0.{}) has no {}", path_, minor_version(),
                  name_of(slot));
  return taken(slot, api_->slots[slot](args));
}

Status Library::await(PJRT_Event* event) const {
  if (event == nullptr) return {};
  auto await = args<PJRT_Event_Await_Args>();
  await.event = event;
  Status out = call(kEvent_Await, await);
  auto destroy = args<PJRT_Event_Destroy_Args>();
  destroy.event = event;
  drop(kEvent_Destroy, destroy);
  return out;
}

std::string text_of(const PJRT_NamedValue& v) {
  switch (v.type) {
    case PJRT_NamedValue::kString: return {v.string_value, v.value_size};
    case PJRT_NamedValue::kInt64: return fmt::format("{}", v.int64_value);
    case PJRT_NamedValue::kInt64List:
      return fmt::format("{}",
                         fmt::join(v.int64_array_value, v.int64_array_value + v.value_size, "."));
    case PJRT_NamedValue::kFloat: return fmt::format("{}", v.float_value);
    case PJRT_NamedValue::kBool: return v.bool_value ? "true" : "false";
  }
  return "?";
}

std::vector<std::pair<std::string, std::string>> Library::attributes() const {
  std::vector<std::pair<std::string, std::string>> out;
  auto of = args<PJRT_Plugin_Attributes_Args>();
  if (!has(kPlugin_Attributes) || !call(kPlugin_Attributes, of).ok()) return out;
  for (std::size_t i = 0; i < of.num_attributes; ++i)
    out.emplace_back(std::string(of.attributes[i].name, of.attributes[i].name_size),
                     text_of(of.attributes[i]));
  return out;
}

}  // namespace strata::runtime::plugin
