#include "stages/datasets/scan_window.hpp"

#include <algorithm>

namespace cachebisect::stages {
namespace {

constexpr std::size_t kFirstRemoteWindow = std::size_t{1} << 17U;
constexpr std::size_t kLeastRemoteWindow = std::size_t{1} << 14U;
constexpr std::size_t kMostRemoteWindow = std::size_t{1} << 20U;

}  // namespace

ScanWindow::ScanWindow(const ByteSource& file)
    : file_(&file), wanted_(file.is_remote() ? kFirstRemoteWindow : kLeastBytes) {}

std::span<const std::byte> ScanWindow::at(std::uint64_t offset, std::size_t bytes) {
  if (offset < begin_ || offset + bytes > begin_ + bytes_.size()) fill(offset);
  return std::span(bytes_).subspan(offset - begin_, bytes);
}

void ScanWindow::fill(std::uint64_t offset) {
  if (file_->is_remote() && !bytes_.empty()) {
    // What is smaller than a window is read through, what is larger is passed over.
    const bool near = offset <= begin_ + bytes_.size() + wanted_;
    wanted_ =
        near ? std::min(2 * wanted_, kMostRemoteWindow) : std::max(wanted_ / 2, kLeastRemoteWindow);
  }
  begin_ = offset;
  bytes_.resize(std::min<std::uint64_t>(wanted_, file_->size() - offset));
  file_->read(offset, bytes_);
}

}  // namespace cachebisect::stages
