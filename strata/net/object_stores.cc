#include "strata/net/object_stores.h"

#include "strata/base/object_store/object_store.h"
#include "strata/net/object_store/gcs.h"
#include "strata/net/object_store/s3.h"

namespace strata::net {

void register_object_stores() {
  using Opened = Result<std::shared_ptr<ObjectStore>>;
  register_object_store("gs", [](const std::string& bucket) -> Opened {
    Result<GcsOptions> options = gcs_options_from_environment();
    if (!options) return options.status();
    return open_gcs(bucket, *options);
  });
  register_object_store("s3", [](const std::string& bucket) -> Opened {
    Result<S3Options> options = s3_options_from_environment();
    if (!options) return options.status();
    return open_s3(bucket, *options);
  });
}

}  // namespace strata::net
