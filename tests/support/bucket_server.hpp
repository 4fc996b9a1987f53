// A server that speaks as S3 does: ranges of the objects of one bucket, and its list.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "support/object_server.hpp"

namespace cachebisect::test {

/// A text with %XX.
inline std::string percent_decoded(const std::string& text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_encoded = text[i] == '%' && i + 2 < text.size();
    decoded +=
        is_encoded ? static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16)) : text[i];
    if (is_encoded) i += 2;
  }
  return decoded;
}

/// Its reverse, which leaves letters, digits and "-._~/".
inline std::string percent_encoded_key(const std::string& text) {
  std::string encoded;
  for (const char c : text) {
    const bool stays = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string("-._~/").find(c) != std::string::npos;
    const auto byte = static_cast<unsigned char>(c);
    if (stays) {
      encoded += c;
    } else {
      encoded += {'%', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]};
    }
  }
  return encoded;
}

/// What a request for a page of the list asks for.
struct AskedPage {
  std::string prefix;
  std::string delimiter;
  std::string token;
};

inline std::optional<AskedPage> asked_page(const std::string& target) {
  const std::size_t mark = target.find('?');
  if (mark == std::string::npos) return std::nullopt;
  std::map<std::string, std::string> values;
  const std::string query = target.substr(mark + 1);
  for (std::size_t begin = 0; begin < query.size();) {
    const std::size_t end = std::min(query.find('&', begin), query.size());
    const std::string one = query.substr(begin, end - begin);
    const std::size_t equals = one.find('=');
    values[one.substr(0, equals)] = percent_decoded(one.substr(equals + 1));
    begin = end + 1;
  }
  if (values["list-type"] != "2") return std::nullopt;
  return AskedPage{values["prefix"], values["delimiter"], values["continuation-token"]};
}

/// Objects by their keys, listed in pages of so many. The tag of an object follows its content.
class BucketServer {
 public:
  using Objects = std::map<std::string, std::string>;
  using Instead = std::function<std::optional<Said>(const std::string& target)>;

  explicit BucketServer(
      Objects objects, std::size_t page = 1000,
      Instead instead = [](const std::string&) { return std::nullopt; })
      : objects_(std::move(objects)), page_(page), instead_(std::move(instead)) {}

  /// For AWS_ENDPOINT_URL.
  [[nodiscard]] std::string url() const { return server_.url(""); }
  [[nodiscard]] int requests() const { return server_.requests(); }
  [[nodiscard]] int lists() const { return lists_; }

 private:
  static std::string tag_of_content(const std::string& content) {
    return '"' + std::to_string(std::hash<std::string>()(content)) + '"';
  }

  [[nodiscard]] Said answer(const std::string& head) {
    const std::size_t begin = head.find(' ') + 1;
    const std::string target = head.substr(begin, head.find(' ', begin) - begin);
    if (const auto other = instead_(target)) return *other;
    const std::string bucket = "/bucket/";
    if (!target.starts_with(bucket)) {
      return {http_answer("404 Not Found", "", "<Error><Code>NoSuchBucket</Code></Error>")};
    }
    if (const auto page = asked_page(target)) return list(*page);
    const auto found = objects_.find(percent_decoded(target.substr(bucket.size())));
    if (found == objects_.end()) {
      return {http_answer("404 Not Found", "", "<Error><Code>NoSuchKey</Code></Error>")};
    }
    return part_answer(head, found->second, tag_of_content(found->second));
  }

  [[nodiscard]] Said list(const AskedPage& asked) {
    ++lists_;
    std::map<std::string, std::string> entries;  // XML by key or common prefix
    for (const auto& [key, content] : objects_) {
      if (!key.starts_with(asked.prefix)) continue;
      const std::size_t slash = asked.delimiter.empty()
                                    ? std::string::npos
                                    : key.find(asked.delimiter, asked.prefix.size());
      if (slash != std::string::npos) {
        const std::string folder = key.substr(0, slash + 1);
        entries[folder] =
            "<CommonPrefixes><Prefix>" + percent_encoded_key(folder) + "</Prefix></CommonPrefixes>";
      } else {
        entries[key] = "<Contents><Key>" + percent_encoded_key(key) + "</Key><Size>" +
                       std::to_string(content.size()) + "</Size><ETag>" + tag_of_content(content) +
                       "</ETag></Contents>";
      }
    }
    std::string inside;
    std::size_t taken = 0;
    auto next = entries.upper_bound(percent_decoded(asked.token));
    std::string last;
    for (; next != entries.end() && taken < page_; ++next, ++taken) {
      inside += next->second;
      last = next->first;
    }
    const bool has_more = next != entries.end();
    if (has_more) {
      inside += "<NextContinuationToken>" + percent_encoded_key(last) + "</NextContinuationToken>";
    }
    return {
        http_answer("200 OK", "",
                    "<?xml version=\"1.0\"?>\n<ListBucketResult><EncodingType>url</EncodingType>"
                    "<IsTruncated>" +
                        std::string(has_more ? "true" : "false") + "</IsTruncated>" + inside +
                        "</ListBucketResult>")};
  }

  Objects objects_;
  std::size_t page_;
  Instead instead_;
  std::atomic<int> lists_{0};
  SocketServer server_{[this](const std::string& head) { return answer(head); }};
};

}  // namespace cachebisect::test
