#include "strata/data/arrow/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "strata/base/file.h"
#include "strata/base/file_kind.h"
#include "strata/base/large_file.h"

namespace strata::data {
namespace {

constexpr std::int64_t kBatchBytes = std::int64_t{64} << 20;
constexpr const char* kHowToGet =
    "Parquet and Arrow files need Arrow's library, which Strata was built without or does not "
    "find: `scripts/peers.sh pyarrow==26.0.1`, then build again; or name libstrata_arrow.so in "
    "STRATA_ARROW";

std::vector<std::string> places() {
  if (const char* named = std::getenv("STRATA_ARROW")) return {named};
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  const char* file = "libstrata_arrow.so";
  std::vector<std::string> out = {(program / file).string(),
                                  (program.parent_path() / "lib" / file).string()};
  // Beside the library that this code is in, where that is shared.
  Dl_info here{};
  if (::dladdr(reinterpret_cast<const void*>(&arrow_library), &here) && here.dli_fname)
    out.push_back((std::filesystem::path(here.dli_fname).parent_path() / file).string());
  return out;
}

Result<const StrataArrowDoor*> open_library() {
  std::string why;
  for (const std::string& path : places()) {
    if (!file_exists(path)) continue;
    void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      why = fmt::format(" ({})", ::dlerror());
      continue;
    }
    auto function = reinterpret_cast<StrataArrowDoorFunction>(::dlsym(handle, "strata_arrow_door"));
    const StrataArrowDoor* door = function ? function() : nullptr;
    if (door && door->version == kStrataArrowDoorVersion) return door;
    why = fmt::format(" ({} is of another release)", path);
  }
  return Status(Code::unsupported, "{}{}", kHowToGet, why);
}

Status status_of(std::int32_t code, const std::string& path, char* message) {
  std::string said = message ? message : "no reason given";
  std::free(message);
  switch (code) {
    case kStrataArrowInvalid: return Status(Code::invalid, "{}: {}", path, said);
    case kStrataArrowUnsupported: return Status(Code::unsupported, "{}: {}", path, said);
    case kStrataArrowIo: return Status(Code::io, "{}: {}", path, said);
    case kStrataArrowNotFound: return Status(Code::not_found, "{}: {}", path, said);
    default: return Status(Code::corrupt, "{}: {}", path, said);
  }
}

/// StrataArrowSource::read of a PartialFile.
std::int32_t read_part(void* context, std::int64_t offset, std::int64_t length, void* out,
                       char** message) {
  const auto& file = *static_cast<const PartialFile*>(context);
  const auto at = static_cast<std::uint64_t>(offset), size = static_cast<std::uint64_t>(length);
  if (Status s = file.need(at, size); !s.ok()) {
    *message = ::strdup(s.message().c_str());
    return kStrataArrowIo;
  }
  std::memcpy(out, file.bytes().data() + at, size);
  return kStrataArrowOk;
}

}  // namespace

Result<const StrataArrowDoor*> arrow_library() {
  static const Result<const StrataArrowDoor*> library = open_library();
  return library;
}

ArrowBatch::ArrowBatch(std::shared_ptr<const ArrowType> type, ArrowArray array,
                       std::shared_ptr<const void> keep)
    : type_(std::move(type)), array_(array), keep_(std::move(keep)) {}

ArrowBatch::~ArrowBatch() {
  if (array_.release) array_.release(&array_);
}

Result<Element> ArrowBatch::row(std::int64_t index) const {
  STRATA_CHECK(index >= 0 && index < rows(), "row {} of {}", index, rows());
  return arrow_value(*type_, array_, index, shared_from_this());
}

Result<std::shared_ptr<ArrowFile>> ArrowFile::open(const std::string& path) {
  auto door = arrow_library();
  if (!door) return Status(door.status().code(), "{}: {}", path, door.status().message());
  auto file = PartialFile::open(path);
  if (!file) return file.status();
  if (Status s = (*file)->need(0, 8); !s.ok()) return s;
  const std::string_view bytes = (*file)->bytes();
  if (bytes.starts_with("FEA1"))
    return Status(Code::unsupported, "{}: Feather's first version is not read", path);
  const StrataArrowKind kind = bytes.starts_with("PAR1") || bytes.starts_with("PARE")
                                   ? kStrataArrowParquet
                               : bytes.starts_with("ARROW1") ? kStrataArrowFile
                                                             : kStrataArrowStream;
  // Arrow reads a stream that is cut at once as an empty one.
  if (bytes.size() < 8)
    return Status(Code::corrupt, "{}: {} bytes are no file of Arrow's", path, bytes.size());
  // A stream's first message is of so many bytes, behind a mark or, of old ones, without.
  std::uint32_t mark = 0;
  std::memcpy(&mark, bytes.data(), 4);
  if (kind == kStrataArrowStream && mark != 0xffffffff && mark > bytes.size())
    return Status(Code::corrupt, "{}: neither Parquet nor Arrow's, but {}", path,
                  file_kind((*file)->remote() ? bytes.substr(0, 8) : bytes, ""));
  std::shared_ptr<ArrowFile> out(new ArrowFile(*door, path, kind));
  out->file_ = std::move(*file);
  if (out->file_->remote())
    out->source_ = {const_cast<PartialFile*>(out->file_.get()),
                    static_cast<std::int64_t>(bytes.size()), read_part};
  ArrowSchema schema = {};
  char* message = nullptr;
  const std::int32_t code =
      (*door)->open(path.c_str(), out->file_->remote() ? &out->source_ : nullptr, kind,
                    &out->reader_, &schema, &out->groups_, &message);
  if (code != kStrataArrowOk) return out->failed(code, message);
  auto type = arrow_type_of(schema);
  schema.release(&schema);
  if (!type) return Status(type.status().code(), "{}: {}", path, type.status().message());
  out->type_ = std::make_shared<const ArrowType>(std::move(*type));
  return out;
}

ArrowFile::~ArrowFile() {
  if (reader_) door_->close_reader(reader_);
}

Status ArrowFile::failed(std::int32_t code, char* message) const {
  return status_of(code, path_, message);
}

Result<std::shared_ptr<const ArrowBatch>> ArrowFile::batch(std::int32_t code, ArrowArray array,
                                                           char* message) {
  if (code != kStrataArrowOk) return failed(code, message);
  if (!array.release) return std::shared_ptr<const ArrowBatch>();
  return std::shared_ptr<const ArrowBatch>(
      std::make_shared<ArrowBatch>(type_, array, shared_from_this()));
}

Result<std::int64_t> ArrowFile::rows(std::int64_t group) {
  std::int64_t out = 0;
  char* message = nullptr;
  const std::int32_t code = door_->rows(reader_, group, &out, &message);
  return code == kStrataArrowOk ? Result<std::int64_t>(out) : failed(code, message);
}

Result<std::shared_ptr<const ArrowBatch>> ArrowFile::read_group(std::int64_t group) {
  ArrowArray array = {};
  char* message = nullptr;
  const std::int32_t code = door_->read_group(reader_, group, &array, &message);
  return batch(code, array, message);
}

Result<std::shared_ptr<const ArrowBatch>> ArrowFile::next() {
  ArrowArray array = {};
  char* message = nullptr;
  const std::int32_t code = door_->next(reader_, &array, &message);
  return batch(code, array, message);
}

Status ArrowFile::seek(std::int64_t group) {
  char* message = nullptr;
  const std::int32_t code = door_->seek(reader_, group, &message);
  return code == kStrataArrowOk ? Status() : failed(code, message);
}

Result<std::unique_ptr<ArrowWriter>> ArrowWriter::create(const std::string& path,
                                                         StrataArrowKind kind,
                                                         const std::string& compression,
                                                         std::int64_t batch_rows) {
  auto door = arrow_library();
  if (!door) return Status(door.status().code(), "{}: {}", path, door.status().message());
  // Whether the place can be written is known before the first batch is.
  auto aside = FileWriter::create(path);
  if (!aside) return aside.status();
  return std::unique_ptr<ArrowWriter>(new ArrowWriter(*door, path, kind, compression, batch_rows));
}

ArrowWriter::~ArrowWriter() {
  if (writer_) door_->close_writer(writer_);
  if (!closed_ && columns_) (void)remove_all(path_ + ".tmp");
}

Status ArrowWriter::failed(std::int32_t code, char* message) const {
  // What cannot be written was given so.
  return status_of(code == kStrataArrowCorrupt ? kStrataArrowInvalid : code, path_, message);
}

Status ArrowWriter::add(const Element& record) {
  if (record.kind() != Element::Kind::dict)
    return Status(Code::invalid, "records of columns are dicts, not {}", name(record.kind()));
  Status added = columns_ ? columns_->add(record) : widen(type_, record);
  if (!added.ok()) return Status(added.code(), "column {}", added.message());
  if (!columns_) waiting_.push_back(record);
  const std::int64_t bytes = record.byte_count(), waiting = ++rows_ - written_;
  bytes_ += bytes;
  waiting_bytes_ += bytes;
  return waiting >= batch_rows_ || waiting_bytes_ >= kBatchBytes ? flush() : Status();
}

Status ArrowWriter::begin(const ArrowType& type) {
  type_ = type;
  type_.kind = ArrowKind::structure;
  ArrowSchema schema = arrow_schema_of(type_);
  columns_.emplace(type_);
  char* message = nullptr;
  const std::int32_t code = door_->create((path_ + ".tmp").c_str(), kind_, compression_.c_str(),
                                          &schema, &writer_, &message);
  if (schema.release) schema.release(&schema);
  return code == kStrataArrowOk ? Status() : failed(code, message);
}

Status ArrowWriter::flush() {
  char* message = nullptr;
  if (!columns_) {
    if (Status s = begin(ArrowType(type_)); !s.ok()) return s;
    for (const Element& record : std::exchange(waiting_, {}))
      if (Status s = columns_->add(record); !s.ok())
        return Status(s.code(), "column {}", s.message());
  }
  written_ = rows_;
  waiting_bytes_ = 0;
  if (columns_->length() == 0) return {};
  ArrowArray array = columns_->take();
  const std::int32_t code = door_->write(writer_, &array, &message);
  if (array.release) array.release(&array);
  return code == kStrataArrowOk ? Status() : failed(code, message);
}

Status ArrowWriter::close() {
  if (Status s = flush(); !s.ok()) return s;
  char* message = nullptr;
  if (std::int32_t code = door_->finish(writer_, &message); code != kStrataArrowOk)
    return failed(code, message);
  const std::string aside = path_ + ".tmp";
  const int fd = ::open(aside.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = fd >= 0 && ::fsync(fd) == 0;
  if (fd >= 0) ::close(fd);
  if (!synced) return Status(Code::io, "{}: cannot be made durable", path_);
  if (Status s = rename_synced(aside, path_); !s.ok()) return s;
  closed_ = true;
  return {};
}

}  // namespace strata::data
