#include "stages/datasets/recent_bytes.hpp"

#include <algorithm>
#include <iterator>

namespace cachebisect::stages {

const std::vector<std::byte>* RecentBytes::find(std::uint64_t number) {
  const auto found = std::ranges::find(items_, number, &Item::number);
  if (found == items_.end()) return nullptr;
  items_.splice(items_.begin(), items_, found);
  return &items_.front().bytes;
}

std::size_t RecentBytes::bytes() const noexcept {
  std::size_t sum = 0;
  for (const Item& item : items_) sum += item.bytes.capacity();
  return sum;
}

RecentBytes::Item& RecentBytes::make_room(std::size_t bytes) {
  std::size_t held = this->bytes();
  std::list<Item> reused;
  while (held + bytes > limit_bytes_ && !items_.empty()) {
    held -= items_.back().bytes.capacity();
    const bool fits = reused.empty() && items_.back().bytes.capacity() == bytes;
    if (fits) {
      reused.splice(reused.begin(), items_, std::prev(items_.end()));
    } else {
      items_.pop_back();
    }
  }
  if (reused.empty()) reused.emplace_back();
  items_.splice(items_.begin(), reused);
  Item& item = items_.front();
  item.number = kNone;
  item.bytes.resize(bytes);
  return item;
}

}  // namespace cachebisect::stages
