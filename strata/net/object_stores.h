// gs:// and s3:// paths for every function of files.
#pragma once

#include <functional>
#include <string>

namespace strata::net {

/// From here on, paths gs://BUCKET/KEY and s3://BUCKET/KEY name objects of Google Cloud Storage and
/// of S3, wherever Strata takes a path. Endpoints and credentials come from the environment, as
/// `gcs_options_from_environment` and `s3_options_from_environment` say, when a bucket is first
/// used.
///
///     net::register_object_stores();
///     auto config = read_file("gs://bucket/config.yml");
///
/// `tell` hears in one line, at most twice a minute, that a store has failed three times in a row
/// and is asked again; from any thread.
void register_object_stores(std::function<void(const std::string& line)> tell = {});

}  // namespace strata::net
