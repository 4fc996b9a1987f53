#include "cachebisect/pipeline/chain.hpp"

#include <algorithm>

namespace cachebisect {
namespace {

constexpr std::string_view kOrder =
    "the order is source, sample stages, collate, batch stages, copy, device stages";

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::usage, message); }

std::string article(StageKind kind) { return "a " + std::string(to_string(kind)) + " stage"; }

void check_one_of(std::span<const ChainStage> chain, StageKind kind) {
  const ChainStage* first = nullptr;
  for (const ChainStage& stage : chain) {
    if (stage.kind != kind) continue;
    if (first != nullptr) {
      refuse(describe(*first) + " and " + describe(stage) + " are both of kind " +
             std::string(to_string(kind)) + "; a chain has exactly one: remove one of them");
    }
    first = &stage;
  }
}

// The last stage of at most this kind: the missing one belongs after it.
const ChainStage& last_up_to(std::span<const ChainStage> chain, StageKind kind) {
  const ChainStage* last = &chain.front();
  for (const ChainStage& stage : chain) {
    if (stage.kind <= kind) last = &stage;
  }
  return *last;
}

void check_present(std::span<const ChainStage> chain, StageKind kind, StageKind after,
                   std::string_view remedy) {
  const bool present = std::any_of(chain.begin(), chain.end(),
                                   [&](const ChainStage& stage) { return stage.kind == kind; });
  if (present) return;
  refuse("the chain has no " + std::string(to_string(kind)) + " stage; add " + std::string(remedy) +
         " after '" + last_up_to(chain, after).name + "'");
}

void check_neighbours(std::span<const ChainStage> chain) {
  for (std::size_t i = 1; i < chain.size(); ++i) {
    const ChainStage& before = chain[i - 1];
    const ChainStage& after = chain[i];
    if (before.kind <= after.kind) continue;
    refuse(describe(after) + " is " + article(after.kind) + " and cannot come after " +
           describe(before) + ", " + article(before.kind) + "; " + std::string(kOrder) + ": put '" +
           after.name + "' before '" + before.name + "'");
  }
}

void check_names(std::span<const ChainStage> chain) {
  for (std::size_t i = 0; i < chain.size(); ++i) {
    for (std::size_t j = i + 1; j < chain.size(); ++j) {
      if (chain[i].name == chain[j].name) {
        refuse("stages " + std::to_string(i + 1) + " (" + chain[i].type + ") and " +
               std::to_string(j + 1) + " (" + chain[j].type + ") are both named '" + chain[i].name +
               "'; rename one of them");
      }
    }
  }
}

/// What a cache serves would be the same in every epoch.
void check_caches(std::span<const ChainStage> chain) {
  const ChainStage* random = nullptr;
  for (const ChainStage& stage : chain) {
    if (stage.traits.random && random == nullptr) random = &stage;
    if (!stage.traits.caches || random == nullptr) continue;
    if (static_cast<const CacheStage&>(*stage.stage).frozen()) continue;
    refuse(describe(stage) + " would serve what " + describe(*random) +
           " drew once in every epoch; put '" + stage.name + "' before '" + random->name +
           "', or say \"frozen\": true if training may see the same draws again");
  }
}

}  // namespace

std::string describe(const ChainStage& stage) {
  return "stage '" + stage.name + "' (" + stage.type + ")";
}

std::string describe(SampleIndex index, const SampleOrigin& origin) {
  std::string text = "sample " + std::to_string(index.value);
  if (!origin.empty()) text += " (" + origin.to_string() + ")";
  return text;
}

std::string describe(const SampleSpec& spec) {
  std::string text;
  for (const FieldSpec& field : spec) {
    if (!text.empty()) text += ", ";
    text += field.name + " " + std::string(to_string(field.dtype)) + " " + field.shape.to_string();
  }
  return text;
}

std::string_view base_stage_name(std::string_view type) noexcept {
  switch (category_of(type)) {
    case Category::read:
    case Category::decode:
    case Category::cache:
    case Category::collate:
    case Category::copy:
      return category_name(type);
    default:
      // The whole type if it has no dot.
      return type.substr(type.find('.') + 1);
  }
}

std::string default_stage_name(std::string_view type, std::span<const ChainStage> chain) {
  const std::string base(base_stage_name(type));
  const auto taken = [&](const std::string& name) {
    return std::any_of(chain.begin(), chain.end(),
                       [&](const ChainStage& stage) { return stage.name == name; });
  };
  std::string name = base;
  for (int n = 2; taken(name); ++n) name = base + "_" + std::to_string(n);
  return name;
}

void check_order(std::span<const ChainStage> chain) {
  if (chain.empty()) {
    refuse("the chain has no stages; it needs at least a source, a collate and a copy stage");
  }
  check_one_of(chain, StageKind::source);
  check_one_of(chain, StageKind::collate);
  check_one_of(chain, StageKind::copy);
  check_neighbours(chain);
  if (chain.front().kind != StageKind::source) {
    refuse(describe(chain.front()) + " comes first, and it is " + article(chain.front().kind) +
           "; a chain begins with a source, such as read.image_folder");
  }
  check_present(chain, StageKind::collate, StageKind::sample,
                R"({"use": "collate.stack", "layout": "NCHW"})");
  check_present(chain, StageKind::copy, StageKind::batch, R"({"use": "copy.device"})");
  check_names(chain);
  check_caches(chain);
}

}  // namespace cachebisect
