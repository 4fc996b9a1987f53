// A page of the list of a bucket, as a server of objects answers.
#include "cachebisect/http/bucket_page.hpp"

#include "fuzz/fuzz_target.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

namespace {

std::string as_xml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string as_xml(const BucketPage& page) {
  std::string text = "<ListBucketResult>";
  for (const ListedObject& object : page.objects) {
    text += "<Contents><Key>" + as_xml(object.key) + "</Key><Size>" + std::to_string(object.bytes) +
            "</Size><ETag>" + as_xml(object.tag) + "</ETag></Contents>";
  }
  for (const std::string& folder : page.folders) {
    text += "<CommonPrefixes><Prefix>" + as_xml(folder) + "</Prefix></CommonPrefixes>";
  }
  if (!page.next.empty()) {
    text += "<NextContinuationToken>" + as_xml(page.next) + "</NextContinuationToken>";
  }
  return text + "<IsTruncated>" + (page.next.empty() ? "false" : "true") +
         "</IsTruncated></ListBucketResult>";
}

void check_page_key(std::string_view key) {
  require(!key.empty() && key.size() <= 1024, "a key has 1 to 1024 bytes");
  require(key.find('\0') == std::string_view::npos, "a key is a text");
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(bucket_page)(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  BucketPage page;
  if (!takes({ErrorKind::data}, [&] { page = read_bucket_page(text); })) return 0;
  require(page.objects.size() + page.folders.size() <= text.size() / 10, "each key was written");
  for (const ListedObject& object : page.objects) check_page_key(object.key);
  for (const std::string& folder : page.folders) check_page_key(folder);
  const std::string written = as_xml(page);
  require(as_xml(read_bucket_page(written)) == written, "a page is read as it was written");
  return 0;
}
