#include "strata/base/object_store/object_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "strata/base/file.h"
#include "strata/base/large_file.h"
#include "strata/net/object_store/gcs.h"
#include "strata/net/object_store/s3.h"
#include "strata/net/object_store/testing/bucket_server.h"
#include "strata/net/object_stores.h"

namespace strata::net {
namespace {

using testing::BucketServer;
using ::testing::ElementsAre;
using testing::Fault;
using ::testing::HasSubstr;

RetryPolicy at_once(int most = 6) {
  return {.most = most, .wait = [](std::chrono::milliseconds) {}};
}

struct Interface {
  const char* name;
  std::shared_ptr<ObjectStore> (*open)(const std::string& url);
};

std::shared_ptr<ObjectStore> s3_of(const std::string& url) {
  return open_s3("bucket", {.endpoint = url,
                            .credentials = [] { return S3Credentials{"id", "secret", ""}; },
                            .retry = at_once(),
                            .part_bytes = 5 << 20});
}
std::shared_ptr<ObjectStore> gcs_of(const std::string& url) {
  return open_gcs("bucket",
                  {.endpoint = url, .retry = at_once(), .part_bytes = std::uint64_t{4} << 20});
}

class ObjectStoreTest : public ::testing::TestWithParam<Interface> {
 protected:
  BucketServer server_;
  std::shared_ptr<ObjectStore> store_ = GetParam().open(server_.url());
};

std::string noise(std::size_t size) {
  std::mt19937 random(7);
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(random());
  return out;
}

TEST_P(ObjectStoreTest, ReadsWhatWasWritten) {
  const std::string key = "a folder/ä+?&=#%20.txt", bytes = noise(1000);
  const std::string generation = store_->write(key, bytes, std::nullopt).value();
  EXPECT_EQ(server_.object("bucket/" + key), bytes);
  EXPECT_EQ(store_->read(key, {}).value(), bytes);
  EXPECT_EQ(store_->read(key, {10, 20}).value(), bytes.substr(10, 20));
  EXPECT_EQ(store_->read(key, {990, 20}).value(), bytes.substr(990));
  EXPECT_EQ(store_->read(key, {0, 0}).value(), "");
  EXPECT_EQ(store_->read(key, {5000, 10}).value(), "");
  const ObjectInfo info = store_->stat(key).value();
  EXPECT_EQ(info.size, 1000u);
  EXPECT_EQ(info.generation, generation);
  EXPECT_TRUE(store_->write("empty", "", std::nullopt).ok());
  EXPECT_EQ(store_->read("empty", {}).value(), "");
  EXPECT_TRUE(store_->remove(key).ok());
  EXPECT_TRUE(store_->remove(key).ok());
  EXPECT_EQ(store_->read(key, {}).status().code(), Code::not_found);
  EXPECT_EQ(store_->stat(key).status().code(), Code::not_found);
}

TEST_P(ObjectStoreTest, WritesUnderConditions) {
  const std::string first = store_->write("k", "1", "").value();
  EXPECT_EQ(store_->write("k", "2", "").status().code(), Code::exists);
  const std::string second = store_->write("k", "2", first).value();
  EXPECT_EQ(store_->write("k", "3", first).status().code(), Code::exists);
  EXPECT_EQ(store_->write("none", "3", first).status().code(), Code::exists);
  EXPECT_EQ(store_->read("k", {.generation = second}).value(), "2");
  const Result<std::string> replaced = store_->read("k", {.generation = first});
  EXPECT_EQ(replaced.status().code(), Code::not_found);
  EXPECT_THAT(replaced.status().message(), HasSubstr("was replaced"));
}

TEST_P(ObjectStoreTest, ListsPageAfterPage) {
  for (const char* key : {"a", "b/1", "b/2", "b/c/3", "d", "e", "f/4", "g", "h<&"})
    ASSERT_TRUE(store_->write(key, key, std::nullopt).ok());
  const auto keys = [&](const std::string& prefix, bool recursive) {
    std::vector<std::string> out;
    const ObjectListing listing = store_->list(prefix, recursive).value();
    for (const ObjectInfo& object : listing.objects) out.push_back(object.key);
    for (const std::string& folder : listing.folders) out.push_back(folder);
    return out;
  };
  EXPECT_THAT(keys("", true), ElementsAre("a", "b/1", "b/2", "b/c/3", "d", "e", "f/4", "g", "h<&"));
  EXPECT_THAT(keys("", false), ElementsAre("a", "d", "e", "g", "h<&", "b/", "f/"));
  EXPECT_THAT(keys("b/", false), ElementsAre("b/1", "b/2", "b/c/"));
  EXPECT_THAT(keys("none", true), ElementsAre());
}

TEST_P(ObjectStoreTest, UploadsInPieces) {
  const std::string bytes = noise(std::size_t{13} << 20);
  {
    std::unique_ptr<ObjectUpload> upload = store_->upload("large").value();
    for (std::size_t at = 0; at < bytes.size(); at += 1'000'000)
      ASSERT_TRUE(upload->write(std::string_view(bytes).substr(at, 1'000'000)).ok());
    EXPECT_EQ(store_->stat("large").status().code(), Code::not_found);
    EXPECT_FALSE(upload->commit().value().empty());
  }
  EXPECT_EQ(server_.object("bucket/large"), bytes);
  {
    std::unique_ptr<ObjectUpload> upload = store_->upload("small").value();
    ASSERT_TRUE(upload->write("few bytes").ok());
    EXPECT_TRUE(upload->commit().ok());
  }
  EXPECT_EQ(server_.object("bucket/small"), "few bytes");
  const std::size_t open = server_.open_uploads();
  {
    std::unique_ptr<ObjectUpload> upload = store_->upload("never").value();
    ASSERT_TRUE(upload->write(bytes).ok());
  }
  EXPECT_EQ(server_.open_uploads(), open);
  EXPECT_EQ(store_->stat("never").status().code(), Code::not_found);
}

TEST_P(ObjectStoreTest, RepeatsWhatFailsAndIsLost) {
  // Every plan of up to three faults: the write happens once, reads are whole.
  const std::vector<Fault> kinds = {Fault::none, Fault::unavailable, Fault::lost_answer};
  int round = 0;
  for (Fault a : kinds)
    for (Fault b : kinds)
      for (Fault c : kinds) {
        const std::string key = "k" + std::to_string(round++);
        server_.plan({a, b, c});
        const Result<std::string> generation = store_->write(key, key + " bytes", "");
        ASSERT_TRUE(generation.ok()) << key << ": " << generation.status().message();
        server_.plan({a, b, c});
        EXPECT_EQ(store_->read(key, {1, 3, *generation}).value(), (key + " bytes").substr(1, 3));
        server_.plan({a, b, c});
        EXPECT_TRUE(store_->remove(key).ok());
        server_.plan({});
        EXPECT_EQ(store_->stat(key).status().code(), Code::not_found);
      }
}

TEST_P(ObjectStoreTest, NoticesShortAndDamagedBodies) {
  const std::string bytes = noise(1000);
  ASSERT_TRUE(store_->write("k", bytes, std::nullopt).ok());
  server_.plan({Fault::short_body});
  EXPECT_EQ(store_->read("k", {100, 200}).value(), bytes.substr(100, 200));
  server_.plan({Fault::flipped_byte});
  EXPECT_EQ(store_->read("k", {}).value(), bytes);
  server_.plan(std::vector<Fault>(20, Fault::flipped_byte));
  const Result<std::string> damaged = store_->read("k", {});
  EXPECT_EQ(damaged.status().code(), Code::corrupt);
  EXPECT_THAT(damaged.status().message(), HasSubstr("after 7 attempts"));
}

TEST_P(ObjectStoreTest, UploadsSurviveLostRequests) {
  const std::string bytes = noise(std::size_t{11} << 20);
  for (int at = 0; at < 5; ++at)
    for (Fault fault : {Fault::unavailable, Fault::lost_answer}) {
      std::vector<Fault> plan(static_cast<std::size_t>(at), Fault::none);
      plan.push_back(fault);
      server_.plan(plan);
      const std::string key = "k" + std::to_string(at);
      std::unique_ptr<ObjectUpload> upload = store_->upload(key).value();
      ASSERT_TRUE(upload->write(bytes).ok());
      const Result<std::string> done = upload->commit();
      ASSERT_TRUE(done.ok()) << at << ": " << done.status().message();
      EXPECT_EQ(server_.object("bucket/" + key), bytes);
      server_.plan({});
      ASSERT_TRUE(store_->remove(key).ok());
    }
}

TEST_P(ObjectStoreTest, SaysWhatNeverSucceeds) {
  server_.plan(std::vector<Fault>(20, Fault::unavailable));
  const Status status = store_->read("k", {}).status();
  EXPECT_EQ(status.code(), Code::io);
  EXPECT_THAT(status.message(), HasSubstr("503"));
  EXPECT_THAT(status.message(), HasSubstr("after 7 attempts"));
  const std::shared_ptr<ObjectStore> nobody = GetParam().open("http://127.0.0.1:9");
  EXPECT_EQ(nobody->stat("k").status().code(), Code::io);
}

TEST(RetryTest, TellsOfEachFailureThatIsWaitedFor) {
  std::vector<std::string> told;
  RetryPolicy policy = at_once(3);
  policy.tell = [&](const Status& failure, int attempt) {
    told.push_back(fmt::format("{}: {}", attempt, failure.message()));
  };
  const auto nobody = open_gcs("bucket", {.endpoint = "http://127.0.0.1:9", .retry = policy});
  EXPECT_EQ(nobody->stat("k").status().code(), Code::io);
  ASSERT_EQ(told.size(), 3u);
  EXPECT_THAT(told[2], HasSubstr("3: "));
  EXPECT_THAT(told[2], HasSubstr("127.0.0.1"));
}

INSTANTIATE_TEST_SUITE_P(Interfaces, ObjectStoreTest,
                         ::testing::Values(Interface{"s3", s3_of}, Interface{"gcs", gcs_of}),
                         [](const auto& info) { return info.param.name; });

TEST(S3Test, FollowsABucketToItsRegion) {
  BucketServer server;
  server.region = "eu-north-1";
  const auto store = s3_of(server.url());
  EXPECT_TRUE(store->write("k", "v", std::nullopt).ok());
  EXPECT_EQ(server.requests().size(), 2u);
  EXPECT_EQ(store->read("k", {}).value(), "v");
  EXPECT_EQ(server.requests().size(), 3u);
}

TEST(S3Test, SignsAsAmazonsExampleDoes) {
  // "GET Object" of AWS's examples of Signature Version 4.
  const S3Request request{.host = "examplebucket.s3.amazonaws.com",
                          .path = "/test.txt",
                          .headers = {{"range", "bytes=0-9"}}};
  const S3Credentials who{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};
  const HttpHeaders headers = sign_s3(request, who, "us-east-1", "20130524T000000Z");
  EXPECT_THAT(headers.back().second,
              HasSubstr("Signature="
                        "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"));
  // "GET Bucket (List Objects)".
  const S3Request list{.host = "examplebucket.s3.amazonaws.com",
                       .parameters = {{"prefix", "J"}, {"max-keys", "2"}}};
  EXPECT_THAT(sign_s3(list, who, "us-east-1", "20130524T000000Z").back().second,
              HasSubstr("Signature="
                        "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(ObjectPathTest, FilesOfABucketAreFiles) {
  BucketServer server;
  register_object_store("s3", [&](const std::string& bucket) {
    return Result<std::shared_ptr<ObjectStore>>(
        open_s3(bucket, {.endpoint = server.url(), .retry = at_once()}));
  });
  const std::string folder = "s3://bucket/runs/7";
  EXPECT_FALSE(file_exists(folder));
  EXPECT_EQ(list_folder(folder).status().code(), Code::not_found);
  EXPECT_TRUE(make_folders(folder).ok());
  ASSERT_TRUE(write_file_atomic(folder + "/a.txt", "text").ok());
  ASSERT_TRUE(write_file_synced(folder + "/below/b.txt", "more").ok());
  EXPECT_EQ(read_file(folder + "/a.txt").value(), "text");
  EXPECT_TRUE(file_exists(folder));
  EXPECT_TRUE(file_exists(folder + "/a.txt"));
  EXPECT_FALSE(file_exists(folder + "/c.txt"));
  EXPECT_THAT(list_folder(folder).value(), ElementsAre("a.txt", "below"));
  EXPECT_EQ(MappedFile::open(folder + "/a.txt").value()->bytes(), "text");
  {
    FileWriter writer = FileWriter::create(folder + "/c.bin").value();
    ASSERT_TRUE(writer.write("one ").ok());
    ASSERT_TRUE(writer.write("two").ok());
    EXPECT_FALSE(file_exists(folder + "/c.bin"));
    ASSERT_TRUE(writer.commit().ok());
  }
  EXPECT_EQ(read_file(folder + "/c.bin").value(), "one two");
  EXPECT_EQ(rename_synced(folder + "/a.txt", folder + "/z").code(), Code::unsupported);
  EXPECT_EQ(remove_all("s3://bucket").code(), Code::denied);
  EXPECT_TRUE(remove_all(folder).ok());
  EXPECT_EQ(server.objects(), 0u);
}

TEST(ObjectPathTest, RefusesWhatNamesNoBucket) {
  EXPECT_FALSE(is_object_path("/a/b"));
  EXPECT_FALSE(is_object_path("C://x"));
  EXPECT_FALSE(is_object_path("a b://x"));
  register_object_stores();
  EXPECT_EQ(read_file("gs:///key").status().code(), Code::invalid);
  const Status unknown = read_file("azure://bucket/key").status();
  EXPECT_EQ(unknown.code(), Code::unsupported);
  EXPECT_THAT(unknown.message(), HasSubstr("gs://, s3://"));
}

TEST(ListingTest, RefusesWhatIsNone) {
  EXPECT_FALSE(parse_s3_page("").ok());
  EXPECT_FALSE(parse_s3_page("<Error/>").ok());
  EXPECT_FALSE(parse_gcs_page("[1]").ok());
  EXPECT_FALSE(parse_gcs_page(R"({"items": [{"name": "a", "size": "1x"}]})").ok());
}

}  // namespace
}  // namespace strata::net
