#include "cachebisect/http/s3_address.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/base/printable.hpp"

namespace cachebisect {
namespace {

constexpr std::string_view kS3Scheme = "s3://";
constexpr std::size_t kMostBucketName = 63;
constexpr std::size_t kMostKey = 1024;

bool is_letter_or_digit(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool all_of(std::string_view text, std::string_view others) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return is_letter_or_digit(c) || others.find(c) != std::string_view::npos;
  });
}

/// A text as it stands in a URL, and in what is signed; `plain` stays besides letters and digits.
std::string percent_encoded(std::string_view key, std::string_view plain) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (const char c : key) {
    if (is_letter_or_digit(c) || plain.find(c) != std::string_view::npos) {
      text += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    text += '%';
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::string first_of(const Environment& environment, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    if (std::string value = environment(name); !value.empty()) return value;
  }
  return "";
}

/// "s3://bucket/key", in its parts.
struct S3Name {
  std::string bucket;
  std::string key;
};

S3Name split_name(const std::string& path) {
  const std::string_view rest = std::string_view(path).substr(kS3Scheme.size());
  const std::size_t slash = rest.find('/');
  return {.bucket = std::string(rest.substr(0, slash)),
          .key = std::string(slash == std::string_view::npos ? "" : rest.substr(slash + 1))};
}

bool is_bucket(std::string_view name) {
  return name.size() <= kMostBucketName && all_of(name, "-._");
}

/// With a slash at its end.
std::string bucket_url(const std::string& bucket, const S3Settings& settings) {
  const std::string aws = "s3." + settings.region + ".amazonaws.com";
  if (!settings.endpoint.empty()) return settings.endpoint + "/" + bucket + "/";
  // No certificate is valid for a host with another dot.
  if (bucket.find('.') != std::string::npos) return "https://" + aws + "/" + bucket + "/";
  return "https://" + bucket + "." + aws + "/";
}

void check(const S3Settings& settings) {
  const auto refuse = [](const std::string& what) { throw Error(ErrorKind::usage, what); };
  if (!all_of(settings.region, "-")) {
    refuse("AWS_REGION " + quote(printable(settings.region)) +
           " is no region; write it as in us-east-1");
  }
  const bool is_url =
      settings.endpoint.starts_with("http://") || settings.endpoint.starts_with("https://");
  if (!settings.endpoint.empty() && !is_url) {
    refuse("AWS_ENDPOINT_URL " + quote(printable(settings.endpoint)) +
           " must begin with http:// or https://");
  }
  if (settings.key.empty() != settings.secret.empty()) {
    refuse(settings.key.empty() ? "AWS_SECRET_ACCESS_KEY is set without AWS_ACCESS_KEY_ID"
                                : "AWS_ACCESS_KEY_ID is set without AWS_SECRET_ACCESS_KEY");
  }
}

}  // namespace

S3Settings s3_settings(const Environment& environment) {
  S3Settings settings{
      .endpoint = first_of(environment, {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}),
      .key = environment("AWS_ACCESS_KEY_ID"),
      .secret = environment("AWS_SECRET_ACCESS_KEY"),
      .token = environment("AWS_SESSION_TOKEN")};
  const std::string region = first_of(environment, {"AWS_REGION", "AWS_DEFAULT_REGION"});
  if (!region.empty()) settings.region = region;
  while (settings.endpoint.ends_with('/')) settings.endpoint.pop_back();
  check(settings);
  return settings;
}

std::shared_ptr<const ObjectAccess> s3_access(const S3Settings& settings) {
  ObjectAccess access{.may_redirect = false, .path_as_is = true};
  const std::string region =
      "set AWS_REGION to the region of the bucket (now " + settings.region + ")";
  if (!settings.key.empty()) {
    access.signing = "aws:amz:" + settings.region + ":s3";
    access.key = settings.key;
    access.secret = settings.secret;
    access.token = settings.token;
  }
  constexpr std::array<long, 4> kElsewhere{301, 302, 307, 308};
  for (const long status : kElsewhere) access.remedies[status] = region;
  access.remedies[400] = region + ", or check the keys";
  access.remedies[403] =
      settings.key.empty()
          ? "requests were not signed: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (files of "
            "AWS's tools are not read: `aws configure export-credentials --format env` prints them)"
          : "check the keys, the clock of this machine, and whether they may read the bucket";
  access.remedies[404] = "check the names of bucket and key";
  return std::make_shared<const ObjectAccess>(std::move(access));
}

ObjectAddress s3_address(const std::string& path, const S3Settings& settings,
                         std::shared_ptr<const ObjectAccess> access) {
  const S3Name name = split_name(path);
  if (!is_bucket(name.bucket) || name.key.empty() || name.key.size() > kMostKey ||
      name.key.ends_with('/')) {
    throw Error(ErrorKind::usage,
                printable(path) + ": is no object of S3; write it as in s3://bucket/key.tar");
  }
  return {.url = bucket_url(name.bucket, settings) + percent_encoded(name.key, "-._~/"),
          .shown = printable(path),
          .access = std::move(access)};
}

std::string s3_prefix(const std::string& path) {
  S3Name name = split_name(path);
  if (is_bucket(name.bucket) && name.key.size() <= kMostKey) return std::move(name.key);
  throw Error(ErrorKind::usage,
              printable(path) + ": is no bucket of S3; write it as in s3://bucket/folder/");
}

std::shared_ptr<const ObjectAccess> s3_list_access(const S3Settings& settings) {
  ObjectAccess access = *s3_access(settings);
  access.remedies[403] += "; to list a bucket takes the right s3:ListBucket";
  access.remedies[404] = "check the name of the bucket";
  return std::make_shared<const ObjectAccess>(std::move(access));
}

ObjectAddress s3_page_address(const S3Page& page, const S3Settings& settings,
                              std::shared_ptr<const ObjectAccess> access) {
  constexpr std::string_view kUnreserved = "-._~";
  // Parameters are sorted, as in what is signed: libcurl signs them as they stand.
  std::string query;
  if (!page.token.empty()) {
    query += "continuation-token=" + percent_encoded(page.token, kUnreserved) + "&";
  }
  if (page.has_folders) query += "delimiter=%2F&";
  query +=
      "encoding-type=url&list-type=2&prefix=" + percent_encoded(s3_prefix(page.path), kUnreserved);
  return {.url = bucket_url(split_name(page.path).bucket, settings) + "?" + query,
          .shown = printable(page.path),
          .access = std::move(access)};
}

}  // namespace cachebisect
