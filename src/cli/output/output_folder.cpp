#include "output/output_folder.hpp"

#include <array>
#include <chrono>
#include <ctime>
#include <system_error>

#include "cachebisect/base/error.hpp"

namespace cachebisect::cli {
namespace {

namespace fs = std::filesystem;

}  // namespace

OutputFolder::OutputFolder(const std::string& path) : path_(path) {
  std::error_code error;
  for (fs::path missing = fs::absolute(path_, error).lexically_normal();
       !error && !missing.empty() && !fs::exists(missing, error); missing = missing.parent_path()) {
    made_.insert(made_.begin(), missing);
  }
  if (!error) fs::create_directories(path_, error);
  if (!error && !fs::is_directory(path_, error)) {
    error = std::make_error_code(std::errc::not_a_directory);
  }
  if (error) {
    throw Error(ErrorKind::output, "cannot make the folder " + path + ": " + error.message() +
                                       "; choose another one, or check the permissions above it");
  }
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  for (; !made_.empty(); made_.pop_back()) fs::remove(made_.back(), ignored);
}

std::string timestamped_folder(const std::string& parent) {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d_%H-%M-%S", &parts);
  return parent + "/" + text.data();
}

}  // namespace cachebisect::cli
