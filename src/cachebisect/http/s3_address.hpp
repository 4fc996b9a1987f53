// Objects of S3, and of servers that speak as it does.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/http/object_address.hpp"

namespace cachebisect {

/// As the tools of AWS take it from the environment.
struct S3Settings {
  std::string endpoint{};  ///< "http://127.0.0.1:9000"; empty: AWS
  std::string region = "us-east-1";
  std::string key{};  ///< empty: requests are not signed
  std::string secret{};
  std::string token{};
};

/// The value of a variable; empty: it is not set.
using Environment = std::function<std::string(const char* name)>;

/// Reads AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, AWS_REGION or AWS_DEFAULT_REGION,
/// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. Throws Error(usage) that names a
/// variable that is wrong, or that is missing next to another.
[[nodiscard]] CACHEBISECT_INTERNAL_API S3Settings s3_settings(const Environment& environment);
/// How all objects are asked for.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::shared_ptr<const ObjectAccess> s3_access(
    const S3Settings& settings);
/// "s3://bucket/key": in AWS the bucket is part of the host's name, unless it has a dot; of other
/// servers, of the path. Throws Error(usage) that names `path` if it is none.
[[nodiscard]] CACHEBISECT_INTERNAL_API ObjectAddress
s3_address(const std::string& path, const S3Settings& settings,
           std::shared_ptr<const ObjectAccess> access);

/// A page of the list of what begins as "s3://bucket/prefix" does.
struct S3Page {
  std::string path;          ///< the prefix may be empty
  bool has_folders = false;  ///< keys with a slash behind the prefix are given as folders
  std::string token{};       ///< that the page before gave; empty: the first page
};

/// "prefix" of "s3://bucket/prefix". Throws Error(usage) that names `path` if it is none.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string s3_prefix(const std::string& path);
/// As s3_access(); refusals say what listing needs.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::shared_ptr<const ObjectAccess> s3_list_access(
    const S3Settings& settings);
/// Where the page is asked for. Throws as s3_prefix() does.
[[nodiscard]] CACHEBISECT_INTERNAL_API ObjectAddress s3_page_address(
    const S3Page& page, const S3Settings& settings, std::shared_ptr<const ObjectAccess> access);

}  // namespace cachebisect
