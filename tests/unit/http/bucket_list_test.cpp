// Lists of buckets over HTTP: right ones in pages, and servers that refuse, lie and do not end.
#include "cachebisect/http/bucket_list.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "support/bucket_server.hpp"
#include "support/errors.hpp"
#include "support/http_client.hpp"
#include "support/sigv4.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using test::BucketServer;
using test::has;
using test::http_answer;
using test::Said;

namespace {

constexpr PartLimits kQuickTries{.silent_seconds = 1,
                                 .retry = {.tries = 3, .first_seconds = 0.001}};

/// Keys and folders, each with its size.
std::vector<std::string> listed_keys(const std::string& endpoint, const BucketListOptions& options,
                                     const std::string& key = "", const std::string& secret = "") {
  RequestCounter counter;
  PartReader reader(counter, {}, kQuickTries);
  const S3Settings settings{.endpoint = endpoint, .key = key, .secret = secret};
  std::vector<std::string> all;
  list_bucket(reader, settings, options, [&](const BucketPage& page) {
    for (const ListedObject& object : page.objects) {
      all.push_back(object.key + " " + std::to_string(object.bytes));
    }
    for (const std::string& folder : page.folders) all.push_back(folder);
  });
  return all;
}

std::string one_key_page(const std::string& key, const std::string& next = "") {
  const std::string more =
      next.empty() ? "" : "<NextContinuationToken>" + next + "</NextContinuationToken>";
  return "<ListBucketResult><IsTruncated>" + std::string(next.empty() ? "false" : "true") +
         "</IsTruncated>" + more +
         (key.empty() ? "" : "<Contents><Key>" + key + "</Key><Size>1</Size></Contents>") +
         "</ListBucketResult>";
}

/// What is said of a server that answers the n-th request so, from 0 on.
template <class Answer>
std::string list_refusal(const Answer& answer, std::uint64_t most_keys = 1000) {
  int number = 0;
  const BucketServer server(
      {}, 1000, [&](const std::string&) { return std::optional(Said{answer(number++)}); });
  return test::error_message(
      [&] {
        static_cast<void>(
            listed_keys(server.url(), {.path = "s3://bucket/a/", .most_keys = most_keys}));
      },
      ErrorKind::data);
}

std::string body_refusal(const std::string& body) {
  return list_refusal([&](int) { return http_answer("200 OK", "", body); });
}

}  // namespace

TEST_CASE("a list comes in pages, as deep as it goes or with its folders") {
  if (test::lacks_http_client()) return;
  const std::vector<std::string> keys{"a/1.tar", "a/2 +&.tar", "a/b/3.tar", "a/b/4.tar", "b/5.tar"};
  BucketServer::Objects objects;
  for (const std::string& key : keys) objects[key] = key;
  for (const std::size_t page : {1UL, 2UL, 1000UL}) {
    const BucketServer server(objects, page);
    CHECK(listed_keys(server.url(), {.path = "s3://bucket/a/"}) ==
          std::vector<std::string>{"a/1.tar 7", "a/2 +&.tar 10", "a/b/3.tar 9", "a/b/4.tar 9"});
    CHECK(server.lists() == static_cast<int>((4 + page - 1) / page));
    CHECK(listed_keys(server.url(), {.path = "s3://bucket/a/", .has_folders = true}).size() == 3);
    CHECK(listed_keys(server.url(), {.path = "s3://bucket", .has_folders = true}) ==
          std::vector<std::string>{"a/", "b/"});
    CHECK(listed_keys(server.url(), {.path = "s3://bucket/a/2 "}).size() == 1);
    CHECK(listed_keys(server.url(), {.path = "s3://bucket/none"}).empty());
  }
}

TEST_CASE("requests for a list are signed, with all they ask for") {
  if (test::lacks_http_client()) return;
  std::vector<std::string> heads;
  const test::ObjectServer server("", [&](int number, const std::string& head) {
    heads.push_back(head);
    return std::optional(Said{http_answer(
        "200 OK", "",
        one_key_page("a b/=&amp;" + std::to_string(number), number == 0 ? "t+k/e=&amp;%" : ""))});
  });
  static_cast<void>(listed_keys(server.url(""), {.path = "s3://bucket/a b/=&", .has_folders = true},
                                "AKIDEXAMPLE", "secret"));
  REQUIRE(heads.size() == 2);
  for (const std::string& head : heads) {
    const test::SignedRequest request(head);
    CHECK(has(request.path(), "/bucket/?"));
    CHECK(has(request.path(), "delimiter=%2F&encoding-type=url&list-type=2&prefix=a%20b%2F%3D%26"));
    CHECK(request.part("Signature") == request.signature("secret"));
    CHECK(request.part("Signature") != request.signature("another secret"));
  }
  CHECK(has(heads[1], "?continuation-token=t%2Bk%2Fe%3D%26%25&delimiter"));
}

TEST_CASE("a server that refuses to list is named with the remedy") {
  if (test::lacks_http_client()) return;
  const auto with_status = [](const std::string& status, const std::string& code) {
    return list_refusal(
        [&](int) { return http_answer(status, "", "<Error><Code>" + code + "</Code></Error>"); });
  };
  const std::string denied = with_status("403 No", "AccessDenied");
  CHECK(denied.starts_with("s3://bucket/a/: HTTP status 403 (AccessDenied); requests were not"));
  CHECK(has(denied, "s3:ListBucket"));
  CHECK(with_status("404 No", "NoSuchBucket") ==
        "s3://bucket/a/: HTTP status 404 (NoSuchBucket); check the name of the bucket");
  CHECK(has(with_status("301 Moved", "PermanentRedirect"), "set AWS_REGION"));
  CHECK(has(with_status("503 No", "SlowDown"), "no more for now"));
}

TEST_CASE("a list that fails on its way is asked for again") {
  if (test::lacks_http_client()) return;
  std::atomic<int> number{0};
  const BucketServer server({{"a/1", "x"}}, 1000, [&](const std::string&) {
    const int now = number++;
    if (now == 0) return std::optional(Said{http_answer("500 Oops", "", "")});
    if (now == 1) {
      return std::optional(
          Said{.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n<List", .close = true});
    }
    return std::optional<Said>();
  });
  CHECK(listed_keys(server.url(), {.path = "s3://bucket/a/"}) == std::vector<std::string>{"a/1 1"});
  CHECK(server.requests() == 3);
}

TEST_CASE("answers that are no list of what was asked for are refused") {
  if (test::lacks_http_client()) return;
  const std::string where = "s3://bucket/a/: ";
  CHECK(body_refusal("").starts_with(where + "the server's list cannot be read: the answer is"));
  CHECK(has(body_refusal("<html></html>"), "<html>, no list of a bucket"));
  CHECK(has(body_refusal(one_key_page("a/1").substr(0, 60)), "the XML is wrong at byte 60"));
  CHECK(has(body_refusal(one_key_page("b/1")), "lists \"b/1\", which is not in it"));
  CHECK(has(body_refusal("<ListBucketResult><CommonPrefixes><Prefix>a/b</Prefix>"
                         "</CommonPrefixes><IsTruncated>false</IsTruncated>"
                         "</ListBucketResult>"),
            "lists the folder \"a/b\""));
  CHECK(has(body_refusal(std::string((4U << 20U) + 1, ' ')), "more than the 4194304 bytes"));
  CHECK(has(list_refusal([](int) {
              return "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + std::string(5U << 20U, ' ');
            }),
            "more than the 4194304 bytes"));
}

TEST_CASE("a list that does not end is given up") {
  if (test::lacks_http_client()) return;
  int asked = 0;
  const auto with_count = [&](const auto& body) {
    asked = 0;
    return [&asked, body](int number) {
      ++asked;
      return http_answer("200 OK", "", body(number));
    };
  };
  CHECK(has(list_refusal(with_count([](int) { return one_key_page("a/1", "same"); })),
            "does not end"));
  CHECK(asked == 2);
  CHECK(has(list_refusal(with_count([](int i) { return one_key_page("a/1", std::to_string(i)); })),
            "goes on before \"a/1\""));
  CHECK(has(list_refusal(with_count([](int i) {
              return one_key_page("a/" + std::to_string(i % 2), std::to_string(i));
            })),
            "goes on before \"a/1\""));
  CHECK(has(list_refusal(with_count([](int i) { return one_key_page("", std::to_string(i)); })),
            "101 of its pages have no key"));
  CHECK(asked == 101);
  CHECK(has(list_refusal(with_count([](int i) {
                           return one_key_page("a/" + std::to_string(1000 + i), std::to_string(i));
                         }),
                         20),
            "it has more than 20 objects; name a prefix of fewer"));
  CHECK(asked == 21);
}
