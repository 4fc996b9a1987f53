#include "cachebisect/base/current_error.hpp"

#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <typeinfo>

#include <cxxabi.h>

namespace cachebisect {
namespace {

std::string current_type_name() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "unknown";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type->name(), nullptr, nullptr, &status), &std::free);
  return name ? name.get() : type->name();
}

}  // namespace

Error current_error(ErrorKind otherwise) {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc& error) {
    return {ErrorKind::data, std::string("no memory left (") + error.what() +
                                 "); lower batch_size, workers, prefetch or --cache-host"};
  } catch (const std::exception& error) {
    return {otherwise, error.what()};
  } catch (const std::string& text) {
    return {otherwise, text};
  } catch (const char* text) {
    return {otherwise, text != nullptr ? text : "a null text was thrown"};
  } catch (...) {
    return {otherwise, "an exception of type " + current_type_name() +
                           " was thrown, which is not a std::exception"};
  }
}

}  // namespace cachebisect
