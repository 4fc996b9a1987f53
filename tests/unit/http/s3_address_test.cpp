// Where objects of S3 lie, and how requests for them are signed.
#include "cachebisect/http/s3_address.hpp"

#include <map>
#include <string>

#include "support/errors.hpp"
#include "support/http_client.hpp"
#include "support/object_server.hpp"
#include "support/sigv4.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/http/part_reader.hpp"

using namespace cachebisect;
using test::has;
using test::SignedRequest;

namespace {

using Variables = std::map<std::string, std::string>;

// From AWS's published examples.
constexpr const char* kKey = "AKIAIOSFODNN7EXAMPLE";
constexpr const char* kSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";

S3Settings settings_of(const Variables& variables) {
  return s3_settings([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  });
}

std::string url_of(const std::string& path, const Variables& variables = {}) {
  return s3_address(path, settings_of(variables), nullptr).url;
}

/// The head of a request for the first byte of s3://bucket/`key`.
std::string head_of(const std::string& key, const Variables& more) {
  std::string seen;
  const test::ObjectServer server("x", [&](int, const std::string& head) {
    seen = head;
    return std::nullopt;
  });
  Variables variables = more;
  variables["AWS_ENDPOINT_URL"] = server.url("");
  const S3Settings settings = settings_of(variables);
  RequestCounter counter;
  PartReader reader(counter, {});
  static_cast<void>(
      reader.look_up(s3_address("s3://bucket/" + key, settings, s3_access(settings))));
  return seen;
}

}  // namespace

TEST_CASE("the bucket is part of AWS's host, and of the path of other servers") {
  CHECK(url_of("s3://bucket/a/b.tar") == "https://bucket.s3.us-east-1.amazonaws.com/a/b.tar");
  CHECK(url_of("s3://bucket/a.tar", {{"AWS_DEFAULT_REGION", "eu-west-1"}}) ==
        "https://bucket.s3.eu-west-1.amazonaws.com/a.tar");
  CHECK(url_of("s3://bucket/a.tar",
               {{"AWS_DEFAULT_REGION", "eu-west-1"}, {"AWS_REGION", "eu-north-1"}}) ==
        "https://bucket.s3.eu-north-1.amazonaws.com/a.tar");
  CHECK(url_of("s3://my.bucket/a.tar") == "https://s3.us-east-1.amazonaws.com/my.bucket/a.tar");
  CHECK(url_of("s3://bucket/a.tar", {{"AWS_ENDPOINT_URL", "http://localhost:9000/"}}) ==
        "http://localhost:9000/bucket/a.tar");
  CHECK(url_of("s3://bucket/a.tar",
               {{"AWS_ENDPOINT_URL", "http://x"}, {"AWS_ENDPOINT_URL_S3", "http://y"}}) ==
        "http://y/bucket/a.tar");
  CHECK(has(url_of("s3://bucket/a b/c+d=\xc3\xa4?#%.tar"), "/a%20b/c%2Bd%3D%C3%A4%3F%23%25.tar"));
}

TEST_CASE("the list of a bucket lies at the root of its host, or of its path") {
  const auto page = [](const S3Page& asked, const Variables& variables) {
    return s3_page_address(asked, settings_of(variables), nullptr).url;
  };
  CHECK(page({.path = "s3://bucket/a b/"}, {}) ==
        "https://bucket.s3.us-east-1.amazonaws.com/?encoding-type=url&list-type=2&prefix=a%20b%2F");
  CHECK(page({.path = "s3://my.bucket", .has_folders = true}, {{"AWS_REGION", "eu-west-1"}}) ==
        "https://s3.eu-west-1.amazonaws.com/my.bucket/"
        "?delimiter=%2F&encoding-type=url&list-type=2&prefix=");
  CHECK(page({.path = "s3://bucket/", .token = "+/="}, {{"AWS_ENDPOINT_URL", "http://x:9000"}}) ==
        "http://x:9000/bucket/"
        "?continuation-token=%2B%2F%3D&encoding-type=url&list-type=2&prefix=");
  CHECK(s3_prefix("s3://bucket/a/*.tar") == "a/*.tar");
  CHECK(s3_prefix("s3://bucket").empty());
  for (const char* const path : {"s3://", "s3:///key", "s3://a@b/key"}) {
    CHECK(has(test::usage_error([&] { static_cast<void>(s3_prefix(path)); }), "is no bucket"));
  }
}

TEST_CASE("what is no object, region, endpoint or pair of keys is named") {
  const auto refused = [](const std::string& path, const Variables& variables = {}) {
    return test::usage_error([&] { static_cast<void>(url_of(path, variables)); });
  };
  for (const char* const path : {"s3://", "s3://bucket", "s3://bucket/", "s3:///key",
                                 "s3://a@b/key", "s3://bucket/folder/"}) {
    CAPTURE(path);
    CHECK(has(refused(path), "is no object of S3"));
  }
  CHECK(has(refused("s3://b/k", {{"AWS_REGION", "x/y"}}), "AWS_REGION"));
  CHECK(has(refused("s3://b/k", {{"AWS_ENDPOINT_URL", "host:1"}}), "AWS_ENDPOINT_URL"));
  CHECK(has(refused("s3://b/k", {{"AWS_ACCESS_KEY_ID", "x"}}), "without AWS_SECRET_ACCESS_KEY"));
  CHECK(
      has(refused("s3://b/k", {{"AWS_SECRET_ACCESS_KEY", "hidden"}}), "without AWS_ACCESS_KEY_ID"));
}

TEST_CASE("the signature that tests compute is that of AWS's example") {
  const SignedRequest request(
      "GET /test.txt HTTP/1.1\r\nHost: examplebucket.s3.amazonaws.com\r\nRange: bytes=0-9\r\n"
      "x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\r\n"
      "x-amz-date: 20130524T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 "
      "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
      "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=x");
  CHECK(request.signature(kSecret) ==
        "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  const SignedRequest list(
      "GET /?prefix=J&max-keys=2 HTTP/1.1\r\nHost: examplebucket.s3.amazonaws.com\r\n"
      "x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\r\n"
      "x-amz-date: 20130524T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 "
      "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
      "SignedHeaders=host;x-amz-content-sha256;x-amz-date,Signature=x");
  CHECK(list.signature(kSecret) ==
        "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST_CASE("requests are signed, with the token of a session") {
  if (test::lacks_http_client()) return;
  const Variables keys{
      {"AWS_ACCESS_KEY_ID", kKey}, {"AWS_SECRET_ACCESS_KEY", kSecret}, {"AWS_REGION", "eu-west-1"}};
  Variables session = keys;
  session["AWS_SESSION_TOKEN"] = "to+k/en==";
  for (const char* const key : {"a.tar", "a b/c+d=\xc3\xa4.tar", "a//b/../c.tar"}) {
    CAPTURE(key);
    const SignedRequest request(head_of(key, session));
    CHECK(has(request.part("Credential"), "/eu-west-1/s3/aws4_request"));
    CHECK(has(request.part("Credential"), kKey));
    CHECK(request.part("SignedHeaders") ==
          "host;x-amz-content-sha256;x-amz-date;x-amz-security-token");
    CHECK(request.header("x-amz-security-token") == "to+k/en==");
    CHECK(request.part("Signature") == request.signature(kSecret));
    CHECK(request.part("Signature") != request.signature("another secret"));
  }
  const SignedRequest plain(head_of("a.tar", keys));
  CHECK(plain.part("SignedHeaders") == "host;x-amz-content-sha256;x-amz-date");
  CHECK(plain.part("Signature") == plain.signature(kSecret));
  CHECK(SignedRequest(head_of("a.tar", {})).header("Authorization").empty());
}

TEST_CASE("a bucket that lies elsewhere is not followed, and refusals say what to set") {
  if (test::lacks_http_client()) return;
  const auto refused = [](const std::string& status, const Variables& more) {
    const test::ObjectServer server("x", [&](int, const std::string&) {
      return std::optional(
          test::Said{test::http_answer(status, "Location: http://127.0.0.1:1/elsewhere\r\n", "")});
    });
    Variables variables = more;
    variables["AWS_ENDPOINT_URL"] = server.url("");
    const S3Settings settings = settings_of(variables);
    RequestCounter counter;
    PartReader reader(counter, {});
    std::string message = test::error_message(
        [&] {
          static_cast<void>(
              reader.look_up(s3_address("s3://bucket/k", settings, s3_access(settings))));
        },
        ErrorKind::data);
    CHECK(server.requests() == 1);
    CHECK_FALSE(has(message, kSecret));
    return message;
  };
  const Variables keys{{"AWS_ACCESS_KEY_ID", kKey}, {"AWS_SECRET_ACCESS_KEY", kSecret}};
  CHECK(has(refused("301 Moved", keys), "s3://bucket/k: HTTP status 301; set AWS_REGION"));
  CHECK(has(refused("307 Moved", {}), "set AWS_REGION"));
  CHECK(has(refused("403 No", {}), "set AWS_ACCESS_KEY_ID"));
  CHECK(has(refused("403 No", keys), "check the keys"));
  CHECK(has(refused("404 No", {}), "bucket and key"));
}
