#include "cachebisect/base/private_folder.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kMaxFolderPath = 60;  ///< leaves room for the name of a socket
/// A killed process may still finish one call of the system.
constexpr int kRemoveAttempts = 200;
constexpr auto kRemovePause = std::chrono::milliseconds(5);

std::string temporary_root() {
  const char* const chosen = std::getenv("TMPDIR");
  const std::string root = chosen == nullptr ? "" : chosen;
  return root.empty() || root.size() > kMaxFolderPath ? "/tmp" : root;
}

}  // namespace

PrivateFolder::PrivateFolder() : path_(temporary_root() + "/cachebisect-XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) {
    throw Error(ErrorKind::output, "no temporary folder can be made in " + temporary_root() + ": " +
                                       errno_text(errno) + "; set TMPDIR");
  }
}

PrivateFolder::~PrivateFolder() { remove(); }

void PrivateFolder::remove() const noexcept {
  for (int i = 0; i < kRemoveAttempts; ++i) {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
    if (!error) return;
    std::this_thread::sleep_for(kRemovePause);
  }
}

}  // namespace cachebisect
