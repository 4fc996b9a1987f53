// The error that a call ends with, as a value.
#pragma once

#include <string>

#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"

namespace cachebisect::test {

/// The message of the Error that `call` throws, which must be of this kind; "" if it throws none.
template <class Call>
std::string error_message(const Call& call, ErrorKind kind) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return "";
}

template <class Call>
std::string usage_error(const Call& call) {
  return error_message(call, ErrorKind::usage);
}

/// The message of the Error that `call` throws, after its exit code: "3: no such file"; "" if it
/// throws none.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::to_string(exit_code(error.kind())) + ": " + error.what();
  }
  return "";
}

}  // namespace cachebisect::test
