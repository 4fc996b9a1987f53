#include "stages/support/kept_samples.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <type_traits>

namespace cachebisect::stages {
namespace {

constexpr std::size_t kLine = MemoryResource::kAlignment;
/// Of these at most a hundredth of a page is lost at its end.
constexpr std::size_t kSmall = HugePageBuffer::kPage / 128;
/// About what the set of layouts takes for one.
constexpr std::size_t kLayoutBytes = 48 + sizeof(KeptLayout);

// It goes with its memory.
static_assert(std::is_trivially_destructible_v<KeptSample>);

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// What is smaller than a line of the processor's caches stands in front, next to the header.
KeptLayout make_layout(const Sample& sample) {
  KeptLayout layout;
  for (const auto& [name, field] : sample.fields()) {
    layout.members.push_back(
        {name, dense_view(static_cast<std::byte*>(nullptr), field.dtype(), field.shape())});
  }
  std::size_t end = sizeof(KeptSample);
  for (const bool small : {true, false}) {
    for (KeptLayout::Member& member : layout.members) {
      const std::size_t bytes = member.view.byte_size();
      if ((bytes < kLine) != small) continue;
      member.offset = round_up(end, small ? alignof(std::int64_t) : kLine);
      end = member.offset + bytes;
    }
  }
  layout.bytes = round_up(end, kLine);
  return layout;
}

bool fits(const KeptLayout& layout, const Sample& sample) {
  const auto& fields = sample.fields();
  return std::ranges::equal(layout.members, fields,
                            [](const KeptLayout::Member& member, const Sample::NamedField& named) {
                              return member.name == named.name &&
                                     member.view.dtype == named.field.dtype() &&
                                     member.view.shape == named.field.shape();
                            });
}

}  // namespace

void KeptSample::show(Sample& out) const {
  out.set_index(index);
  out.set_origin(origin);
  // Bytes of views are not written.
  auto* const begin = reinterpret_cast<std::byte*>(const_cast<KeptSample*>(this));
  auto& fields = out.fields();
  for (std::size_t i = 0; i < layout->members.size(); ++i) {
    const KeptLayout::Member& member = layout->members[i];
    Field& field = i < fields.size() && fields[i].name == member.name ? fields[i].field
                                                                      : out.field(member.name);
    TensorView view = member.view;
    view.data = begin + member.offset;
    field.share(view);
  }
}

std::size_t KeptSamples::HashLayout::operator()(const KeptLayout& layout) const noexcept {
  std::size_t hash = layout.members.size();
  const auto add = [&](std::size_t value) { hash = hash * 0x9e3779b97f4a7c15ULL + value; };
  for (const KeptLayout::Member& member : layout.members) {
    add(std::hash<std::string>{}(member.name));
    for (const std::int64_t size : member.view.shape.dims()) add(static_cast<std::size_t>(size));
  }
  return hash;
}

const KeptLayout* KeptSamples::layout_of(const Sample& sample, std::uint64_t& bytes_left) {
  if (last_layout_ != nullptr && fits(*last_layout_, sample)) return last_layout_;
  KeptLayout layout = make_layout(sample);
  const auto found = layouts_.find(layout);
  if (found != layouts_.end()) return last_layout_ = &*found;
  const std::uint64_t bytes = kLayoutBytes + layout.members.size() * sizeof(KeptLayout::Member);
  if (bytes > bytes_left) return nullptr;
  bytes_left -= bytes;
  return last_layout_ = &*layouts_.insert(std::move(layout)).first;
}

bool KeptSamples::take_page(std::uint64_t& bytes_left) {
  if (HugePageBuffer::kPage > bytes_left) return false;
  bytes_left -= HugePageBuffer::kPage;
  pages_.emplace_back(HugePageBuffer::kPage);
  page_ = pages_.back().bytes();
  return true;
}

std::byte* KeptSamples::take(std::size_t bytes, std::uint64_t& bytes_left) {
  if (bytes <= kSmall && (bytes <= page_.size() || take_page(bytes_left))) {
    std::byte* const place = page_.data();
    page_ = page_.subspan(bytes);
    return place;
  }
  // Too large for a page, or no page has room: alone.
  const std::uint64_t needed = bytes + sizeof(Buffer);
  if (needed > bytes_left) return nullptr;
  bytes_left -= needed;
  return pieces_.emplace_back(resource_).reserve(bytes);
}

std::optional<KeptSamples::Place> KeptSamples::reserve(const Sample& sample,
                                                       std::uint64_t& bytes_left) {
  std::uint64_t left = bytes_left;
  const KeptLayout* const layout = layout_of(sample, left);
  if (layout == nullptr) return std::nullopt;
  std::byte* const data = take(layout->bytes, left);
  if (data == nullptr) return std::nullopt;
  bytes_left = left;
  return Place{data, layout};
}

const KeptSample* pack(const Sample& sample, const KeptSamples::Place& place) {
  for (std::size_t i = 0; i < place.layout->members.size(); ++i) {
    TensorView to = place.layout->members[i].view;
    to.data = place.data + place.layout->members[i].offset;
    copy_tensor(sample.fields()[i].field.view(), to);
  }
  return new (place.data) KeptSample{sample.index(), sample.origin(), place.layout};
}

}  // namespace cachebisect::stages
