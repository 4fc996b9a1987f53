// Where an object lies on a server, and how it is asked for.
#pragma once

#include <map>
#include <memory>
#include <string>

namespace cachebisect {

/// What the objects of a server have in common.
struct ObjectAccess {
  std::string signing{};  ///< as CURLOPT_AWS_SIGV4: "aws:amz:eu-west-1:s3"; empty: not signed
  std::string key{};
  std::string secret{};
  std::string token{};       ///< of a session; empty: none
  bool may_redirect = true;  ///< else another place is an error: its signature would be wrong
  bool path_as_is = false;   ///< "a/../b" is a name
  std::map<long, std::string> remedies{};  ///< by HTTP status
};

struct ObjectAddress {
  std::string url;
  std::string shown;                             ///< in messages: without secrets
  std::shared_ptr<const ObjectAccess> access{};  ///< null: that of any server
};

}  // namespace cachebisect
