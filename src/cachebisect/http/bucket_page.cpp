#include "cachebisect/http/bucket_page.hpp"

#include <algorithm>
#include <optional>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/base/number_parse.hpp"
#include "cachebisect/http/xml_reader.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kMostListedKey = 1024;
constexpr std::size_t kMostListedTag = 1024;
constexpr std::size_t kMostToken = 4096;

[[noreturn]] void refuse_page(const std::string& what) { throw Error(ErrorKind::data, what); }

std::optional<unsigned> hexadecimal_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  return std::nullopt;
}

/// What a key is that was written as in a form: "a+b%2B" is "a b+".
std::string url_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const auto high = i + 2 < text.size() ? hexadecimal_digit(text[i + 1]) : std::nullopt;
    const auto low = high ? hexadecimal_digit(text[i + 2]) : std::nullopt;
    if (!low) refuse_page("the key " + quote(text) + " has a % without two digits");
    decoded += static_cast<char>(*high << 4U | *low);
    i += 2;
  }
  return decoded;
}

void check_key(std::string_view key) {
  if (key.empty()) refuse_page("a key is empty");
  if (key.size() > kMostListedKey) refuse_page("the key " + quote(key) + " has over 1024 bytes");
  if (key.find('\0') != std::string_view::npos) refuse_page(quote(key) + " is no key");
}

std::string tag_of(std::string text) {
  const bool is_wrong =
      text.size() > kMostListedTag || std::ranges::any_of(text, [](char c) { return c < ' '; });
  if (is_wrong) refuse_page("the ETag " + quote(text) + " is none");
  // Objects themselves have it in quotation marks, always.
  if (text.empty() || text.starts_with('"') || text.starts_with("W/\"")) return text;
  return '"' + text + '"';
}

bool truth_of(const std::string& text) {
  if (text != "true" && text != "false") refuse_page("IsTruncated is " + quote(text));
  return text == "true";
}

class PageReader {
 public:
  explicit PageReader(std::string_view text) : xml_(text) {}

  BucketPage read() {
    const auto root = xml_.enter();
    if (!root) refuse_page("the answer is empty");
    if (*root != "ListBucketResult") {
      refuse_page("the answer is <" + std::string(*root) + ">, no list of a bucket");
    }
    while (const auto name = xml_.enter()) read_element(*name);
    xml_.finish();
    if (!truncated_) refuse_page("IsTruncated is missing");
    if (!*truncated_) page_.next.clear();
    if (*truncated_ && page_.next.empty()) {
      refuse_page("NextContinuationToken is missing, and there is more");
    }
    if (page_.next.size() > kMostToken) refuse_page("NextContinuationToken has over 4096 bytes");
    decode_keys();
    return std::move(page_);
  }

 private:
  void read_element(std::string_view name) {
    if (name == "Contents") {
      read_object();
    } else if (name == "CommonPrefixes") {
      read_folders();
    } else if (name == "IsTruncated") {
      truncated_ = truth_of(xml_.take_text());
    } else if (name == "NextContinuationToken") {
      page_.next = xml_.take_text();
    } else if (name == "EncodingType") {
      is_encoded_ = xml_.take_text() == "url";
    } else {
      xml_.skip();
    }
  }

  void read_object() {
    ListedObject object;
    std::optional<std::uint64_t> bytes;
    while (const auto name = xml_.enter()) {
      if (*name == "Key") {
        object.key = xml_.take_text();
      } else if (*name == "Size") {
        const std::string text = xml_.take_text();
        bytes = parse_number<std::uint64_t>(text);
        if (!bytes) refuse_page("the size " + quote(text) + " is no number");
      } else if (*name == "ETag") {
        object.tag = tag_of(xml_.take_text());
      } else {
        xml_.skip();
      }
    }
    if (!bytes) refuse_page("the size of " + quote(object.key) + " is missing");
    object.bytes = *bytes;
    page_.objects.push_back(std::move(object));
  }

  void read_folders() {
    while (const auto name = xml_.enter()) {
      if (*name == "Prefix") {
        page_.folders.push_back(xml_.take_text());
      } else {
        xml_.skip();
      }
    }
  }

  /// Some servers say only at the end that keys are encoded.
  void decode_keys() {
    const auto decode = [&](std::string& key) {
      if (is_encoded_) key = url_decoded(key);
      check_key(key);
    };
    for (ListedObject& object : page_.objects) decode(object.key);
    for (std::string& folder : page_.folders) decode(folder);
  }

  XmlReader xml_;
  BucketPage page_;
  std::optional<bool> truncated_;
  bool is_encoded_ = false;
};

}  // namespace

BucketPage read_bucket_page(std::string_view xml) { return PageReader(xml).read(); }

}  // namespace cachebisect
