// Pages of lists of buckets: what AWS, MinIO and others write, and what is none.
#include "cachebisect/http/bucket_page.hpp"

#include <string>

#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using test::has;

namespace {

constexpr const char* kListHead =
    R"(<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">)";

std::string list_page(const std::string& inside, const std::string& truncated = "false") {
  return kListHead + inside + "<IsTruncated>" + truncated + "</IsTruncated></ListBucketResult>";
}

std::string listed_object(const std::string& key, const std::string& size = "<Size>5</Size>") {
  return "<Contents><Key>" + key + "</Key>" + size + "</Contents>";
}

std::string page_refusal(const std::string& text) {
  return test::error_message([&] { static_cast<void>(read_bucket_page(text)); }, ErrorKind::data);
}

}  // namespace

TEST_CASE("a page as AWS writes it") {
  const BucketPage read = read_bucket_page(std::string(kListHead) + R"(
  <Name>bucket</Name><Prefix>a/</Prefix><Delimiter>%2F</Delimiter><KeyCount>3</KeyCount>
  <NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=</NextContinuationToken>
  <MaxKeys>1000</MaxKeys><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>
  <Contents><Key>a/x+y%2B%C3%A4.jpg</Key><LastModified>2009-10-12T17:50:30.000Z</LastModified>
    <ETag>&quot;fba9dede5f27731c9771645a39863328&quot;</ETag><Size>434234</Size>
    <Owner><ID>1</ID><DisplayName>x</DisplayName></Owner><StorageClass>STANDARD</StorageClass>
  </Contents>
  <Contents><Key>a/&amp;&lt;&#62;&#x41;</Key><ETag>plain</ETag><Size>0</Size></Contents>
  <CommonPrefixes><Prefix>a/b/</Prefix></CommonPrefixes>
  <CommonPrefixes><Prefix>a/c/</Prefix></CommonPrefixes>
</ListBucketResult>
)");
  REQUIRE(read.objects.size() == 2);
  CHECK(read.objects[0].key == "a/x y+\xc3\xa4.jpg");
  CHECK(read.objects[0].bytes == 434'234);
  CHECK(read.objects[0].tag == "\"fba9dede5f27731c9771645a39863328\"");
  CHECK(read.objects[1].key == "a/&<>A");
  CHECK(read.objects[1].bytes == 0);
  CHECK(read.objects[1].tag == "\"plain\"");
  CHECK(read.folders == std::vector<std::string>{"a/b/", "a/c/"});
  CHECK(read.next == "1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=");
}

TEST_CASE("keys are as they stand where the server does not say that they are encoded") {
  const BucketPage read =
      read_bucket_page(list_page("<Prefix/>" + listed_object("a+b%2B") + "<!-- x -->"));
  REQUIRE(read.objects.size() == 1);
  CHECK(read.objects[0].key == "a+b%2B");
  CHECK(read.objects[0].tag.empty());
  CHECK(read.next.empty());
  const BucketPage late =
      read_bucket_page(list_page(listed_object("a+b%2B") + "<EncodingType>url</EncodingType>"));
  CHECK(late.objects.at(0).key == "a b+");
  CHECK(read_bucket_page(list_page("")).objects.empty());
}

TEST_CASE("what is no page of a list is refused with what is wrong") {
  CHECK(has(page_refusal(""), "empty"));
  CHECK(has(page_refusal("not XML"), "byte 0: text where elements belong"));
  CHECK(has(page_refusal("<html><body>Log in</body></html>"), "<html>, no list of a bucket"));
  CHECK(has(page_refusal("<Error><Code>AccessDenied</Code></Error>"), "<Error>, no list"));
  CHECK(has(page_refusal(kListHead), "ends within <ListBucketResult>"));
  CHECK(
      has(page_refusal(std::string(kListHead) + "</ListBucketResult>"), "IsTruncated is missing"));
  CHECK(has(page_refusal(list_page("", "maybe")), "IsTruncated is \"maybe\""));
  CHECK(has(page_refusal(list_page("", "true")), "NextContinuationToken is missing"));
  CHECK(has(
      page_refusal(list_page(
          "<NextContinuationToken>" + std::string(5000, 'x') + "</NextContinuationToken>", "true")),
      "over 4096 bytes"));
  CHECK(has(page_refusal(list_page(listed_object("a", ""))), "the size of \"a\" is missing"));
  CHECK(has(page_refusal(list_page(listed_object("a", "<Size>-1</Size>"))), "\"-1\" is no number"));
  CHECK(has(page_refusal(list_page(listed_object("a", "<Size>99999999999999999999</Size>"))),
            "is no number"));
  CHECK(has(page_refusal(list_page(listed_object(""))), "a key is empty"));
  CHECK(has(page_refusal(list_page("<Contents><Size>1</Size></Contents>")), "a key is empty"));
  CHECK(has(page_refusal(list_page(listed_object(std::string(1025, 'k')))), "over 1024 bytes"));
  CHECK(has(page_refusal(list_page(listed_object(std::string("a\0b", 3)))), "is no key"));
  CHECK(has(page_refusal(list_page(listed_object("a", "<Size>1</Size><ETag>a&#10;b</ETag>"))),
            "the ETag"));
  for (const char* const key : {"a%", "a%4", "a%4g"}) {
    CHECK(has(page_refusal(list_page(listed_object(key) + "<EncodingType>url</EncodingType>")),
              "two digits"));
  }
  CHECK(has(page_refusal(list_page("") + "<more/>"), "a second document"));
}

TEST_CASE("what lists do not have of XML is refused, and costs nothing") {
  CHECK(has(page_refusal("<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><x>&b;</x>"),
            "a document type"));
  CHECK(has(page_refusal(list_page(listed_object("&b;"))), "the unknown entity \"b\""));
  for (const char* const key :
       {"&", "&amp", "&#0;", "&#xd800;", "&#x110000;", "&#;", "&#xg;", "&#99999999999;", "&#1f;"}) {
    CAPTURE(key);
    CHECK(has(page_refusal(list_page(listed_object(key))), "entity"));
  }
  CHECK(has(page_refusal(list_page(listed_object("<![CDATA[a]]>"))),
            "an element where text belongs"));
  CHECK(has(page_refusal(list_page(listed_object("a<b/>"))), "an element where text belongs"));
  CHECK(has(page_refusal(list_page("<a></b>")), "</b> closes nothing"));
  CHECK(has(page_refusal(list_page("<a x=\"></a>")), "ends before a"));
  CHECK(has(page_refusal(list_page("<a <b/>")), "a tag without its end"));
  CHECK(has(page_refusal(list_page("<Contents>text</Contents>")), "text where elements belong"));
  CHECK(has(page_refusal(list_page("<!-- ")), "ends before a"));
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  CHECK(has(page_refusal(list_page(deep)), "too many elements in each other"));
  CHECK(page_refusal(list_page("<Owner a='>'><ID>1</ID>text<b/><c><d/></c></Owner>")).empty());
}

TEST_CASE("a page that is cut anywhere is refused") {
  const std::string whole =
      list_page(listed_object("a", "<Size>5</Size><ETag>&quot;x&quot;</ETag>") +
                "<CommonPrefixes><Prefix>b/</Prefix></CommonPrefixes>");
  REQUIRE(page_refusal(whole).empty());
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    CAPTURE(bytes);
    CHECK_FALSE(page_refusal(whole.substr(0, bytes)).empty());
  }
}
