#include "cachebisect/data/huge_page_buffer.hpp"

#include <algorithm>
#include <new>
#include <string>

#include <sys/mman.h>

#include "cachebisect/base/error.hpp"

namespace cachebisect {

HugePageBuffer::HugePageBuffer(std::size_t size) : size_(size) {
  const std::size_t whole = (std::max<std::size_t>(size, 1) + kPage - 1) / kPage * kPage;
  void* data = ::operator new (whole, std::align_val_t{kPage}, std::nothrow);
  if (data == nullptr) {
    throw Error(ErrorKind::data, "no host memory left for " + std::to_string(size) + " bytes");
  }
  data_.reset(static_cast<std::byte*>(data));
  madvise(data, whole, MADV_HUGEPAGE);
}

void HugePageBuffer::Free::operator()(std::byte* data) const noexcept {
  ::operator delete (data, std::align_val_t{kPage});
}

}  // namespace cachebisect
