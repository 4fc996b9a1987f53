// Lets "s3://bucket/..." be that of a server of a test.
#pragma once

#include <array>
#include <cstdlib>
#include <string>

namespace cachebisect::test {

/// While it lives, this process asks `endpoint` for objects of S3, without keys.
class BucketEnvironment {
 public:
  explicit BucketEnvironment(const std::string& endpoint) {
    constexpr std::array<const char*, 6> kOthers{
        "AWS_ENDPOINT_URL_S3", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",   "AWS_REGION",        "AWS_DEFAULT_REGION"};
    for (const char* const name : kOthers) unsetenv(name);
    setenv("AWS_ENDPOINT_URL", endpoint.c_str(), 1);
  }
  ~BucketEnvironment() { unsetenv("AWS_ENDPOINT_URL"); }
  BucketEnvironment(const BucketEnvironment&) = delete;
  BucketEnvironment& operator=(const BucketEnvironment&) = delete;
};

}  // namespace cachebisect::test
