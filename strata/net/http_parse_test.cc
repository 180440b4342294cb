// Requests are read to the letter, whole or in pieces.
#include "strata/net/http_parse.h"

#include <gtest/gtest.h>

namespace strata::net {
namespace {

TEST(HttpParse, ReadsAHeadAndItsBodyInPieces) {
  const std::string all =
      "POST /a?b=c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\nGET";
  const std::size_t end = all.find("\r\n\r\n") + 4;
  for (std::size_t i = 0; i < end; ++i) {
    const RequestHead part = parse_head(all.substr(0, i), {});
    EXPECT_EQ(part.status, 0) << i;
    EXPECT_EQ(part.bytes, 0u) << i;
  }
  RequestHead head = parse_head(all, {});
  ASSERT_EQ(head.status, 0) << head.message;
  EXPECT_EQ(head.bytes, end);
  EXPECT_EQ(head.request.path, "/a");
  EXPECT_EQ(head.request.query, "b=c");
  EXPECT_EQ(head.request.header("host"), "x");
  ASSERT_TRUE(head.has_body);
  std::string buffer;
  std::size_t at = end;
  for (BodyPiece piece; !piece.done; piece = head.take_body(buffer, {})) {
    ASSERT_EQ(piece.status, 0) << piece.message;
    ASSERT_LT(at, all.size());
    buffer += all[at++];
  }
  EXPECT_EQ(head.request.body, "abcde");
  EXPECT_EQ(buffer, "");  // what follows is not taken
}

TEST(HttpParse, RefusesWhatOthersReadInAnotherWay) {
  const std::pair<std::string, int> all[] = {
      {"GET / HTTP/1.1\nHost: x\n\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\n b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400},
      {"GET x HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n", 413},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
      {"GET / HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n", 417},
  };
  for (const auto& [bytes, status] : all) EXPECT_EQ(parse_head(bytes, {}).status, status) << bytes;
}

TEST(HttpParse, AnEmptyChunkedBodyMayArriveInAnyPieces) {
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string body = "0;a=b\r\nT: u\r\n\r\n", bare = "0\r\n\r\n";
  for (const std::string& all : {body, bare}) {
    for (std::size_t step = 1; step <= all.size(); ++step) {
      RequestHead request = parse_head(head, {});
      std::string buffer;
      BodyPiece piece;
      for (std::size_t at = 0; at < all.size(); at += step) {
        EXPECT_FALSE(piece.done) << step << " " << at;
        buffer += all.substr(at, step);
        piece = request.take_body(buffer, {});
        ASSERT_EQ(piece.status, 0) << piece.message;
        // Asking again without further bytes changes nothing.
        if (!piece.done) piece = request.take_body(buffer, {});
      }
      EXPECT_TRUE(piece.done) << step;
      EXPECT_EQ(request.request.body, "");
    }
  }
}

}  // namespace
}  // namespace strata::net
