#include "cachebisect/objects/remote_store.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "cachebisect/base/error.hpp"
#include "cachebisect/http/shown_url.hpp"

namespace cachebisect {

class RemoteStore::Object final : public ByteSource {
 public:
  Object(std::shared_ptr<const RemoteStore> store, ObjectAddress address, ObjectFacts facts)
      : ByteSource(address.shown, facts.bytes),
        store_(std::move(store)),
        address_(std::move(address)),
        facts_(std::move(facts)),
        identity_(address_.url + '\n' + std::to_string(facts_.bytes) + '\n' + facts_.tag) {}

  [[nodiscard]] bool is_remote() const noexcept override { return true; }
  [[nodiscard]] std::string tag() const override { return facts_.tag; }
  [[nodiscard]] const ObjectAddress& address() const noexcept { return address_; }
  [[nodiscard]] const ObjectFacts& facts() const noexcept { return facts_; }
  /// Throws Error(data) unless the object has these bytes.
  [[nodiscard]] ObjectRange range(std::uint64_t offset, std::uint64_t bytes) const {
    if (offset > size() || bytes > size() - offset) {
      throw Error(ErrorKind::data, path() + ": ends within the " + std::to_string(bytes) +
                                       " bytes from byte " + std::to_string(offset));
    }
    return {.object = identity_, .offset = offset};
  }
  void read(std::uint64_t offset, std::span<std::byte> first,
            std::span<std::byte> second) const override {
    const std::uint64_t bytes = first.size() + second.size();
    if (bytes == 0) return;
    const ObjectRange wanted = range(offset, bytes);
    ByteCache* const cache = store_->cache_.get();
    if (cache != nullptr && cache->find(wanted, first, second)) return;
    store_->reader()->read(address_, facts_, offset, first, second);
    if (cache != nullptr) cache->keep(wanted, first, second);
  }

 private:
  std::shared_ptr<const RemoteStore> store_;
  ObjectAddress address_;
  ObjectFacts facts_;
  std::string identity_;  ///< another one is another object
};

RemoteStore::RemoteStore(std::stop_token stop, const PartLimits& limits, Environment environment)
    : stop_(std::move(stop)), limits_(limits), environment_(std::move(environment)) {}

RemoteStore::RemoteStore(std::stop_token stop, std::shared_ptr<ByteCache> cache)
    : RemoteStore(std::move(stop)) {
  cache_ = std::move(cache);
}

RemoteStore::~RemoteStore() = default;

std::unique_ptr<const ByteSource> RemoteStore::open(const std::shared_ptr<const RemoteStore>& store,
                                                    const std::string& path) {
  ObjectAddress address = store->address_of(path);
  ObjectFacts facts = store->reader()->look_up(address);
  return make_object(store, std::move(address), std::move(facts));
}

void RemoteStore::find(const std::shared_ptr<const RemoteStore>& store,
                       std::span<WantedObject> wanted) {
  const bool has_cache = store->cache_ != nullptr;
  std::vector<ObjectAddress> addresses;
  std::vector<WantedHead> asked;
  std::vector<WantedObject*> asking;
  addresses.reserve(wanted.size());
  for (WantedObject& one : wanted) {
    const auto* const known = static_cast<const Object*>(one.object.get());
    if (known != nullptr) one.head = one.head.first(std::min(one.head.size(), known->size()));
    if (known != nullptr && (has_cache || one.head.empty())) continue;
    addresses.push_back(known != nullptr ? known->address() : store->address_of(one.path));
    asked.push_back({.object = &addresses.back(),
                     .head = has_cache ? std::span<std::byte>() : one.head,
                     .known = known != nullptr ? std::optional(known->facts()) : std::nullopt});
    asking.push_back(&one);
  }
  if (!asked.empty()) store->reader()->find(asked);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (asking[i]->object || !asked[i].found) continue;
    asking[i]->object = make_object(store, std::move(addresses[i]), std::move(*asked[i].found));
  }
  if (!has_cache) return;
  for (const WantedObject& one : wanted) {
    if (one.object)
      one.object->read(0, one.head.first(std::min(one.head.size(), one.object->size())));
  }
}

std::unique_ptr<const ByteSource> RemoteStore::open_listed(
    const std::shared_ptr<const RemoteStore>& store, const std::string& path, ObjectFacts facts) {
  return make_object(store, store->address_of(path), std::move(facts));
}

void RemoteStore::read(std::span<const WantedBytes> wanted) const {
  std::vector<WantedRange> asked;
  std::vector<ObjectRange> ranges;
  for (const WantedBytes& one : wanted) {
    if (one.out.empty()) continue;
    const auto& object = static_cast<const Object&>(*one.object);
    const ObjectRange range = object.range(one.offset, one.out.size());
    if (cache_ && cache_->find(range, one.out, {})) continue;
    asked.push_back({.object = &object.address(),
                     .known = &object.facts(),
                     .offset = one.offset,
                     .out = one.out});
    ranges.push_back(range);
  }
  if (!asked.empty()) reader()->read(asked);
  for (std::size_t i = 0; cache_ && i < asked.size(); ++i) {
    cache_->keep(ranges[i], asked[i].out, {});
  }
}

void RemoteStore::list(const BucketListOptions& options, const OnBucketPage& on_page) const {
  const S3Settings settings = s3_settings(environment_);
  list_bucket(*reader(), settings, options, on_page);
}

std::unique_ptr<const RemoteStore::Object> RemoteStore::make_object(
    const std::shared_ptr<const RemoteStore>& store, ObjectAddress address, ObjectFacts facts) {
  if (store->cache_ && facts.tag.empty()) {
    throw Error(ErrorKind::data,
                address.shown +
                    ": the server says neither ETag nor Last-Modified, so that a cache could give "
                    "bytes of another object; leave out \"cache\"");
  }
  return std::make_unique<const Object>(store, std::move(address), std::move(facts));
}

RemoteStore::Readers::Loan RemoteStore::reader() const {
  return readers_.borrow([this] { return std::make_unique<PartReader>(counter_, stop_, limits_); });
}

ObjectAddress RemoteStore::address_of(const std::string& path) const {
  if (!path.starts_with("s3://")) return {.url = path, .shown = shown_url(path)};
  const S3Settings settings = s3_settings(environment_);
  return s3_address(path, settings, s3_access(settings));
}

Environment RemoteStore::process_environment() {
  return [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
}

}  // namespace cachebisect
