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

/// A key as it stands in a URL, and in what is signed.
std::string percent_encoded(std::string_view key) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (const char c : key) {
    if (is_letter_or_digit(c) || std::string_view("-._~/").find(c) != std::string_view::npos) {
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
  const std::string_view rest = std::string_view(path).substr(kS3Scheme.size());
  const std::size_t slash = rest.find('/');
  const std::string bucket(rest.substr(0, slash));
  const std::string key(slash == std::string_view::npos ? "" : rest.substr(slash + 1));
  if (bucket.size() > kMostBucketName || !all_of(bucket, "-._") || key.empty() ||
      key.size() > kMostKey || key.ends_with('/')) {
    throw Error(ErrorKind::usage,
                printable(path) + ": is no object of S3; write it as in s3://bucket/key.tar");
  }
  ObjectAddress address{.url = {}, .shown = printable(path), .access = std::move(access)};
  const std::string encoded = percent_encoded(key);
  const std::string aws = "s3." + settings.region + ".amazonaws.com";
  if (!settings.endpoint.empty()) {
    address.url = settings.endpoint + "/" + bucket + "/" + encoded;
  } else if (bucket.find('.') != std::string::npos) {
    // No certificate is valid for such a host.
    address.url = "https://" + aws + "/" + bucket + "/" + encoded;
  } else {
    address.url = "https://" + bucket + "." + aws + "/" + encoded;
  }
  return address;
}

}  // namespace cachebisect
