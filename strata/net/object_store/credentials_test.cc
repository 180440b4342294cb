#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>

#include "strata/base/file.h"
#include "strata/net/http_server.h"
#include "strata/net/object_store/gcs.h"
#include "strata/net/object_store/s3.h"

namespace strata::net {
namespace {

using ::testing::HasSubstr;

/// Variables for the time of a test; others that decide are taken away.
class CredentialsTest : public ::testing::Test {
 protected:
  CredentialsTest() {
    for (const char* name :
         {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
          "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3",
          "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
          "GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_AUTH_ACCESS_TOKEN", "STORAGE_EMULATOR_HOST",
          "TENSORSTORE_GCS_HTTP_URL", "GOOGLE_CLOUD_QUOTA_PROJECT"})
      ::unsetenv(name);
    ::setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
    char pattern[] = "/tmp/strata_credentials_XXXXXX";
    folder_ = ::mkdtemp(pattern);
    ::setenv("HOME", folder_.c_str(), 1);
    ::setenv("CLOUDSDK_CONFIG", (folder_ + "/gcloud").c_str(), 1);
    server_ = HttpServer::listen({.port = 0}, [this](const HttpRequest& request, HttpReply& reply) {
                std::lock_guard lock(mutex_);
                requests_.push_back(request);
                reply.send(answer_ ? answer_(request) : HttpResponse{.status = 404});
              }).value();
  }
  ~CredentialsTest() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const std::string path = folder_ + "/" + name;
    EXPECT_TRUE(make_folders(std::filesystem::path(path).parent_path().string()).ok());
    EXPECT_TRUE(write_file_atomic(path, text).ok());
    return path;
  }

  std::string folder_;
  std::mutex mutex_;
  std::vector<HttpRequest> requests_;
  std::function<HttpResponse(const HttpRequest&)> answer_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(CredentialsTest, S3FindsNoneVariablesThenFiles) {
  EXPECT_EQ(find_s3_credentials()().value().key_id, "");
  write(".aws/credentials",
        "[default]\naws_access_key_id = A\naws_secret_access_key=B\n\n"
        "[other]\n# a comment = 1\naws_access_key_id=C\naws_secret_access_key = D\n"
        "aws_session_token = E\n");
  write(".aws/config", "[default]\nregion = eu-west-1\n[profile other]\nregion=eu-west-2\n");
  EXPECT_EQ(find_s3_credentials()().value().secret, "B");
  EXPECT_EQ(s3_options_from_environment().value().region, "eu-west-1");
  ::setenv("AWS_PROFILE", "other", 1);
  EXPECT_EQ(find_s3_credentials()().value().key_id, "C");
  EXPECT_EQ(find_s3_credentials()().value().session_token, "E");
  EXPECT_EQ(s3_options_from_environment().value().region, "eu-west-2");
  ::setenv("AWS_ACCESS_KEY_ID", "F", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "G", 1);
  EXPECT_EQ(find_s3_credentials()().value().secret, "G");
  ::setenv("AWS_ENDPOINT_URL", "127.0.0.1:9000", 1);
  EXPECT_EQ(s3_options_from_environment().status().code(), Code::invalid);
}

TEST_F(CredentialsTest, S3AsksAnInstancesMetadataOnce) {
  ::unsetenv("AWS_EC2_METADATA_DISABLED");
  ::setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", server_->url().c_str(), 1);
  answer_ = [](const HttpRequest& request) -> HttpResponse {
    if (request.path == "/latest/api/token") return {.body = "session"};
    if (request.header("x-aws-ec2-metadata-token") != "session") return {.status = 401};
    if (request.path.ends_with("/security-credentials/")) return {.body = "role\n"};
    return {.body = R"({"AccessKeyId": "A", "SecretAccessKey": "B", "Token": "C",
                        "Expiration": "2099-01-01T00:00:00Z"})"};
  };
  const auto find = find_s3_credentials();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(find().value().session_token, "C");
  EXPECT_EQ(requests_.size(), 3u);
  ::unsetenv("AWS_EC2_METADATA_SERVICE_ENDPOINT");
}

TEST_F(CredentialsTest, S3AsksAContainer) {
  ::setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", (server_->url() + "/c").c_str(), 1);
  ::setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "secret", 1);
  answer_ = [](const HttpRequest& request) -> HttpResponse {
    if (request.header("authorization") != "secret") return {.status = 401};
    return {.body = R"({"AccessKeyId": "A", "SecretAccessKey": "B", "Token": "C",
                        "Expiration": "2001-01-01T00:00:00Z"})"};
  };
  const auto find = find_s3_credentials();
  EXPECT_EQ(find().value().key_id, "A");
  EXPECT_EQ(find().value().key_id, "A");
  EXPECT_EQ(requests_.size(), 2u) << "what has ended is asked for again";
  ::unsetenv("AWS_CONTAINER_AUTHORIZATION_TOKEN");
}

TEST_F(CredentialsTest, GcsSignsForAServiceAccount) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_RSA_gen(2048), &EVP_PKEY_free);
  const std::unique_ptr<BIO, decltype(&BIO_free)> pem(BIO_new(BIO_s_mem()), &BIO_free);
  ASSERT_EQ(PEM_write_bio_PrivateKey(pem.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr),
            1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(pem.get(), &data);
  const std::string text(data, static_cast<std::size_t>(size));
  const std::string jwt = service_account_jwt("me@x", text, "https://token", 1000).value();
  const std::size_t dot = jwt.rfind('.');
  std::string signature = jwt.substr(dot + 1);
  for (char& c : signature) c = c == '-' ? '+' : c == '_' ? '/' : c;
  while (signature.size() % 4) signature += '=';
  std::string bytes(signature.size(), '\0');
  ASSERT_GT(EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                            reinterpret_cast<const unsigned char*>(signature.data()),
                            static_cast<int>(signature.size())),
            0);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  ASSERT_EQ(EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()), 1);
  EXPECT_EQ(EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(bytes.data()),
                             256, reinterpret_cast<const unsigned char*>(jwt.data()), dot),
            1);

  const std::string file = write("account.json", nlohmann::json{{"type", "service_account"},
                                                                {"client_email", "me@x"},
                                                                {"private_key", text},
                                                                {"token_uri", server_->url()}}
                                                     .dump());
  ::setenv("GOOGLE_APPLICATION_CREDENTIALS", file.c_str(), 1);
  answer_ = [](const HttpRequest&) -> HttpResponse {
    return {.body = R"({"access_token": "T", "expires_in": 3600})"};
  };
  const auto find = find_gcs_token();
  EXPECT_EQ(find().value(), "T");
  EXPECT_EQ(find().value(), "T");
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_THAT(requests_[0].body, HasSubstr("jwt-bearer&assertion="));
  EXPECT_EQ(service_account_jwt("me@x", "no key", "https://token", 1000).status().code(),
            Code::invalid);
}

TEST_F(CredentialsTest, GcsUsesALoginAndSaysWhatItCannotUse) {
  write("gcloud/application_default_credentials.json", nlohmann::json{{"type", "authorized_user"},
                                                                      {"client_id", "i d"},
                                                                      {"client_secret", "s"},
                                                                      {"refresh_token", "r"},
                                                                      {"token_uri", server_->url()}}
                                                           .dump());
  answer_ = [](const HttpRequest&) -> HttpResponse {
    return {.body = R"({"access_token": "U", "expires_in": 1})"};
  };
  const auto find = find_gcs_token();
  EXPECT_EQ(find().value(), "U");
  EXPECT_THAT(requests_.at(0).body, HasSubstr("client_id=i%20d&"));
  EXPECT_EQ(find().value(), "U");
  EXPECT_EQ(requests_.size(), 2u) << "what ends soon is asked for again";
  answer_ = [](const HttpRequest&) -> HttpResponse { return {.status = 400, .body = "revoked"}; };
  EXPECT_THAT(find_gcs_token()().status().message(), HasSubstr("revoked"));

  const std::string other = write("other.json", R"({"type": "external_account"})");
  ::setenv("GOOGLE_APPLICATION_CREDENTIALS", other.c_str(), 1);
  EXPECT_THAT(find_gcs_token()().status().message(), HasSubstr("external_account"));
  ::setenv("CLOUDSDK_AUTH_ACCESS_TOKEN", "given", 1);
  EXPECT_EQ(find_gcs_token()().value(), "given");
}

TEST_F(CredentialsTest, GcsAsksMetadataAndEmulators) {
  const std::string host = server_->url().substr(7);  // behind http://
  ::setenv("GCE_METADATA_HOST", host.c_str(), 1);
  answer_ = [](const HttpRequest& request) -> HttpResponse {
    if (request.header("metadata-flavor") != "Google") return {.status = 403};
    return {.body = R"({"access_token": "M", "expires_in": 3600})"};
  };
  EXPECT_EQ(find_gcs_token()().value(), "M");
  answer_ = {};
  EXPECT_EQ(find_gcs_token()().value(), "");
  ::unsetenv("GCE_METADATA_HOST");
  ::setenv("STORAGE_EMULATOR_HOST", "127.0.0.1:1", 1);
  const GcsOptions options = gcs_options_from_environment().value();
  EXPECT_EQ(options.endpoint, "http://127.0.0.1:1");
  EXPECT_FALSE(options.token);
}

}  // namespace
}  // namespace strata::net
