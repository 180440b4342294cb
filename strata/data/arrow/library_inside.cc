// libstrata_arrow.so: the table of door.h, by Arrow's C++ library.
#include <arrow/buffer.h>
#include <arrow/c/bridge.h>
#include <arrow/config.h>
#include <arrow/io/api.h>
#include <arrow/ipc/api.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/properties.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "strata/data/arrow/door.h"

namespace {

using arrow::Status;

// A file may ask for so much memory at once, whatever it declares.
constexpr std::int64_t kMostBytes = std::int64_t{4} << 30;
// One piece of what a file unpacks to may have this, and so many bytes for each of the file's.
constexpr std::int64_t kLeastPiece = std::int64_t{32} << 20, kUnpacked = 4096;
constexpr std::int64_t kRowsAtOnce = 8192;

std::int32_t code_of(const Status& s) {
  if (s.ok()) return kStrataArrowOk;
  if (s.IsNotImplemented()) return kStrataArrowUnsupported;
  if (s.IsIOError() && s.ToString().find("ailed to open") != std::string::npos)
    return kStrataArrowNotFound;
  // What parquet throws for damaged files arrives as an IOError too.
  if (s.IsIOError() && s.ToString().find("errno") != std::string::npos) return kStrataArrowIo;
  return kStrataArrowCorrupt;
}

std::int32_t told(const Status& s, char** message) {
  if (!s.ok()) *message = ::strdup(s.message().c_str());
  return code_of(s);
}

/// Runs `f`, which returns a Status; exceptions are failures.
template <class F>
std::int32_t guarded(char** message, F f) {
  *message = nullptr;
  try {
    return told(f(), message);
  } catch (const parquet::ParquetStatusException& e) {
    return told(e.status(), message);
  } catch (const std::exception& e) {
    return told(Status::Invalid(e.what()), message);
  }
}

/// A file that the door's caller reads.
class DoorFile : public arrow::io::RandomAccessFile {
 public:
  explicit DoorFile(const StrataArrowSource* source) : source_(source) {
    set_mode(arrow::io::FileMode::READ);
  }
  Status Close() override { return closed_ = true, Status::OK(); }
  bool closed() const override { return closed_; }
  arrow::Result<std::int64_t> Tell() const override { return at_; }
  Status Seek(std::int64_t position) override {
    if (position < 0 || position > source_->size) return Status::IOError("no byte ", position);
    return at_ = position, Status::OK();
  }
  arrow::Result<std::int64_t> GetSize() override { return source_->size; }
  arrow::Result<std::int64_t> ReadAt(std::int64_t position, std::int64_t bytes,
                                     void* out) override {
    if (position < 0 || bytes < 0 || position > source_->size)
      return Status::IOError("no bytes ", position, " + ", bytes);
    bytes = std::min(bytes, source_->size - position);
    char* message = nullptr;
    const std::int32_t code =
        bytes == 0 ? 0 : source_->read(source_->context, position, bytes, out, &message);
    if (code == kStrataArrowOk) return bytes;
    const std::string said = message ? message : "cannot read";
    std::free(message);
    return Status::IOError("errno: ", said);  // as a system's failure is told
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(std::int64_t position,
                                                       std::int64_t bytes) override {
    bytes = std::max<std::int64_t>(0, std::min(bytes, source_->size - position));
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(bytes));
    ARROW_ASSIGN_OR_RAISE(const std::int64_t n, ReadAt(position, bytes, buffer->mutable_data()));
    ARROW_RETURN_NOT_OK(buffer->Resize(n));
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }
  arrow::Result<std::int64_t> Read(std::int64_t bytes, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const std::int64_t n, ReadAt(at_, bytes, out));
    at_ += n;
    return n;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t bytes) override {
    ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(at_, bytes));
    at_ += buffer->size();
    return buffer;
  }

 private:
  const StrataArrowSource* source_;
  std::int64_t at_ = 0;
  bool closed_ = false;
};

arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> input_of(
    const std::string& path, const StrataArrowSource* source) {
  if (source) return std::make_shared<DoorFile>(source);
  ARROW_ASSIGN_OR_RAISE(auto mapped,
                        arrow::io::MemoryMappedFile::Open(path, arrow::io::FileMode::READ));
  return std::shared_ptr<arrow::io::RandomAccessFile>(std::move(mapped));
}

/// Refuses pieces that are out of all proportion to the file: a page or a buffer may say that it
/// unpacks to 2^31 bytes.
class PiecesPool : public arrow::ProxyMemoryPool {
 public:
  explicit PiecesPool(arrow::MemoryPool* pool) : ProxyMemoryPool(pool) {}
  using ProxyMemoryPool::Allocate;
  using ProxyMemoryPool::Reallocate;
  Status Allocate(std::int64_t size, std::int64_t alignment, std::uint8_t** out) override {
    ARROW_RETURN_NOT_OK(check(size));
    return ProxyMemoryPool::Allocate(size, alignment, out);
  }
  Status Reallocate(std::int64_t old_size, std::int64_t new_size, std::int64_t alignment,
                    std::uint8_t** at) override {
    ARROW_RETURN_NOT_OK(check(new_size));
    return ProxyMemoryPool::Reallocate(old_size, new_size, alignment, at);
  }
  void of_file(std::int64_t bytes) {
    most_ = std::max(kLeastPiece, std::min(bytes, kMostBytes / kUnpacked) * kUnpacked);
  }

 private:
  Status check(std::int64_t size) const {
    return size <= most_ ? Status::OK()
                         : Status::Invalid("a piece of ", size, " bytes is out of proportion to ",
                                           "the file");
  }
  std::int64_t most_ = kLeastPiece;
};

struct Reader {
  arrow::CappedMemoryPool all{arrow::default_memory_pool(), kMostBytes};
  PiecesPool pool{&all};
  std::int32_t kind = 0;
  std::shared_ptr<arrow::Schema> schema;
  std::unique_ptr<parquet::arrow::FileReader> parquet;
  std::shared_ptr<arrow::ipc::RecordBatchFileReader> file;
  std::shared_ptr<arrow::ipc::RecordBatchStreamReader> stream;
  /// Where `next` stands: the group, and of Parquet its batches.
  std::int64_t group = 0;
  std::unique_ptr<arrow::RecordBatchReader> batches;
  bool ended = false;

  std::int64_t groups() const {
    if (parquet) return parquet->num_row_groups();
    return file ? file->num_record_batches() : -1;
  }

  Status open(const std::string& path, const StrataArrowSource* source) {
    arrow::ipc::IpcReadOptions options = arrow::ipc::IpcReadOptions::Defaults();
    options.memory_pool = &pool;
    options.use_threads = false;
    ARROW_ASSIGN_OR_RAISE(auto input, input_of(path, source));
    ARROW_ASSIGN_OR_RAISE(const std::int64_t size, input->GetSize());
    pool.of_file(size);
    if (kind == kStrataArrowParquet) {
      parquet::ReaderProperties properties(&pool);
      properties.set_page_checksum_verification(true);
      // Of what is read in parts a column comes at once, not page by page.
      if (!source) properties.enable_buffered_stream();
      parquet::arrow::FileReaderBuilder builder;
      ARROW_RETURN_NOT_OK(builder.Open(input, properties));
      parquet::ArrowReaderProperties reading;
      reading.set_batch_size(kRowsAtOnce);
      reading.set_pre_buffer(false);
      builder.memory_pool(&pool)->properties(reading);
      ARROW_ASSIGN_OR_RAISE(parquet, builder.Build());
      return parquet->GetSchema(&schema);
    }
    if (kind == kStrataArrowFile) {
      ARROW_ASSIGN_OR_RAISE(file, arrow::ipc::RecordBatchFileReader::Open(input, options));
      schema = file->schema();
    } else {
      ARROW_ASSIGN_OR_RAISE(stream, arrow::ipc::RecordBatchStreamReader::Open(input, options));
      schema = stream->schema();
    }
    return Status::OK();
  }

  static Status give(const std::shared_ptr<arrow::RecordBatch>& batch, ArrowArray* out) {
    ARROW_RETURN_NOT_OK(batch->ValidateFull());
    return arrow::ExportRecordBatch(*batch, out);
  }

  Status rows(std::int64_t at, std::int64_t* out) {
    if (parquet) {
      *out = parquet->parquet_reader()->metadata()->RowGroup(static_cast<int>(at))->num_rows();
      return *out < 0 ? Status::Invalid("a row group of ", *out, " rows") : Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(auto batch, file->ReadRecordBatch(static_cast<int>(at)));
    *out = batch->num_rows();
    return Status::OK();
  }

  Status read_group(std::int64_t at, ArrowArray* out) {
    if (file) {
      ARROW_ASSIGN_OR_RAISE(auto batch, file->ReadRecordBatch(static_cast<int>(at)));
      return give(batch, out);
    }
    ARROW_ASSIGN_OR_RAISE(auto of_group, parquet->GetRecordBatchReader({static_cast<int>(at)}));
    ARROW_ASSIGN_OR_RAISE(auto table, of_group->ToTable());
    ARROW_ASSIGN_OR_RAISE(auto batch, table->CombineChunksToBatch(&all));
    return give(batch, out);
  }

  Status next(ArrowArray* out) {
    out->release = nullptr;
    std::shared_ptr<arrow::RecordBatch> batch;
    while (!ended) {
      if (stream) {
        const Status s = stream->ReadNext(&batch);
        ended = !s.ok() || !batch;
        ARROW_RETURN_NOT_OK(s);
        return batch ? give(batch, out) : s;
      }
      if (!batches && group >= groups()) break;
      if (file) {
        ARROW_ASSIGN_OR_RAISE(batch, file->ReadRecordBatch(static_cast<int>(group++)));
        return give(batch, out);
      }
      if (!batches) {
        auto opened = parquet->GetRecordBatchReader({static_cast<int>(group++)});
        if (!opened.ok()) return opened.status();
        batches = std::move(*opened);
      }
      const Status s = batches->ReadNext(&batch);
      if (!s.ok() || !batch) batches.reset();
      ARROW_RETURN_NOT_OK(s);
      if (batch) return give(batch, out);
    }
    return Status::OK();
  }
};

struct Writer {
  std::int32_t kind = 0;
  std::shared_ptr<arrow::Schema> schema;
  std::shared_ptr<arrow::io::FileOutputStream> output;
  std::unique_ptr<parquet::arrow::FileWriter> parquet;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> ipc;

  Status create(const std::string& path, const std::string& compression, ArrowSchema* given) {
    ARROW_ASSIGN_OR_RAISE(schema, arrow::ImportSchema(given));
    std::string name = compression == "none" ? "uncompressed" : compression;
    if (name == "lz4" && kind == kStrataArrowParquet) name = "lz4_raw";
    if (name == "lz4" && kind != kStrataArrowParquet) name = "lz4_frame";
    arrow::Compression::type codec = arrow::Compression::UNCOMPRESSED;
    if (name == "lz4_raw") {
      codec = arrow::Compression::LZ4;
    } else if (name == "lz4_frame") {
      codec = arrow::Compression::LZ4_FRAME;
    } else {
      ARROW_ASSIGN_OR_RAISE(codec, arrow::util::Codec::GetCompressionType(name));
    }
    ARROW_ASSIGN_OR_RAISE(output, arrow::io::FileOutputStream::Open(path));
    if (kind == kStrataArrowParquet) {
      parquet::WriterProperties::Builder properties;
      properties.compression(codec)->enable_page_checksum()->created_by("strata");
      properties.max_row_group_length(std::int64_t{1} << 40);
      auto stored = parquet::ArrowWriterProperties::Builder().store_schema()->build();
      ARROW_ASSIGN_OR_RAISE(
          parquet, parquet::arrow::FileWriter::Open(*schema, arrow::default_memory_pool(), output,
                                                    properties.build(), stored));
      return Status::OK();
    }
    arrow::ipc::IpcWriteOptions options = arrow::ipc::IpcWriteOptions::Defaults();
    options.use_threads = false;
    if (codec != arrow::Compression::UNCOMPRESSED) {
      ARROW_ASSIGN_OR_RAISE(options.codec, arrow::util::Codec::Create(codec));
    }
    ARROW_ASSIGN_OR_RAISE(ipc, kind == kStrataArrowFile
                                   ? arrow::ipc::MakeFileWriter(output, schema, options)
                                   : arrow::ipc::MakeStreamWriter(output, schema, options));
    return Status::OK();
  }

  Status write(ArrowArray* given) {
    ARROW_ASSIGN_OR_RAISE(auto batch, arrow::ImportRecordBatch(given, schema));
    if (ipc) return ipc->WriteRecordBatch(*batch);
    ARROW_RETURN_NOT_OK(parquet->NewBufferedRowGroup());
    return parquet->WriteRecordBatch(*batch);
  }

  Status finish() {
    ARROW_RETURN_NOT_OK(parquet ? parquet->Close() : ipc->Close());
    return output->Close();
  }
};

std::int32_t open(const char* path, const StrataArrowSource* source, std::int32_t kind, void** out,
                  ArrowSchema* schema, std::int64_t* groups, char** message) {
  return guarded(message, [&]() -> Status {
    auto reader = std::make_unique<Reader>();
    reader->kind = kind;
    ARROW_RETURN_NOT_OK(reader->open(path, source));
    ARROW_RETURN_NOT_OK(arrow::ExportSchema(*reader->schema, schema));
    *groups = reader->groups();
    *out = reader.release();
    return Status::OK();
  });
}

constexpr StrataArrowDoor kDoor = {
    .version = kStrataArrowDoorVersion,
    .arrow_version = ARROW_VERSION_STRING,
    .open = open,
    .rows =
        [](void* reader, std::int64_t group, std::int64_t* rows, char** message) {
          return guarded(message, [&] { return static_cast<Reader*>(reader)->rows(group, rows); });
        },
    .read_group =
        [](void* reader, std::int64_t group, ArrowArray* out, char** message) {
          return guarded(message,
                         [&] { return static_cast<Reader*>(reader)->read_group(group, out); });
        },
    .next =
        [](void* reader, ArrowArray* out, char** message) {
          return guarded(message, [&] { return static_cast<Reader*>(reader)->next(out); });
        },
    .seek =
        [](void* reader, std::int64_t group, char** message) {
          return guarded(message, [&] {
            auto* r = static_cast<Reader*>(reader);
            r->batches.reset();
            r->group = group;
            return Status::OK();
          });
        },
    .close_reader = [](void* reader) { delete static_cast<Reader*>(reader); },
    .create =
        [](const char* path, std::int32_t kind, const char* compression, ArrowSchema* schema,
           void** out, char** message) {
          return guarded(message, [&]() -> Status {
            auto writer = std::make_unique<Writer>();
            writer->kind = kind;
            ARROW_RETURN_NOT_OK(writer->create(path, compression, schema));
            *out = writer.release();
            return Status::OK();
          });
        },
    .write =
        [](void* writer, ArrowArray* batch, char** message) {
          return guarded(message, [&] { return static_cast<Writer*>(writer)->write(batch); });
        },
    .finish =
        [](void* writer, char** message) {
          return guarded(message, [&] { return static_cast<Writer*>(writer)->finish(); });
        },
    .close_writer = [](void* writer) { delete static_cast<Writer*>(writer); },
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const StrataArrowDoor* strata_arrow_door() {
  return &kDoor;
}
