#include "cachebisect/protocol/kinds.hpp"

#include <array>

namespace cachebisect {

std::string_view to_string(Category category) noexcept {
  switch (category) {
    case Category::read:
      return "read";
    case Category::decode:
      return "decode";
    case Category::augment:
      return "augment";
    case Category::cache:
      return "cache";
    case Category::collate:
      return "collate";
    case Category::transfer:
      return "transfer";
    case Category::pin:
      return "pin";
    case Category::copy:
      return "copy";
    case Category::device:
      return "device";
    case Category::synthetic:
      return "synthetic";
    case Category::custom:
      break;
  }
  return "custom";
}

std::string_view category_name(std::string_view type) noexcept {
  return type.substr(0, type.find('.'));
}

Category category_of(std::string_view type) noexcept {
  constexpr std::array kBuiltIn{Category::read,     Category::decode,  Category::augment,
                                Category::cache,    Category::collate, Category::transfer,
                                Category::pin,      Category::copy,    Category::device,
                                Category::synthetic};
  for (const Category category : kBuiltIn) {
    if (category_name(type) == to_string(category)) return category;
  }
  return Category::custom;
}

std::string_view to_string(StageKind kind) noexcept {
  switch (kind) {
    case StageKind::source:
      return "source";
    case StageKind::sample:
      return "sample";
    case StageKind::collate:
      return "collate";
    case StageKind::batch:
      return "batch";
    case StageKind::copy:
      return "copy";
    case StageKind::device:
      return "device";
  }
  return "?";
}

std::string_view to_string(LoaderKind kind) noexcept {
  switch (kind) {
    case LoaderKind::sample:
      return "sample";
    case LoaderKind::batch:
      return "batch";
  }
  return "?";
}

std::optional<LoaderKind> parse_loader_kind(std::string_view text) noexcept {
  for (const LoaderKind kind : kLoaderKinds) {
    if (text == to_string(kind)) return kind;
  }
  return std::nullopt;
}

std::string_view to_string(Held held) noexcept {
  switch (held) {
    case Held::none:
      return "none";
    case Held::host:
      return "host";
    case Held::device:
      return "device";
  }
  return "?";
}

}  // namespace cachebisect
