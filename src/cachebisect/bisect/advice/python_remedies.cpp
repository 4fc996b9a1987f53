#include "cachebisect/bisect/advice/python_remedies.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "cachebisect/base/setting_path.hpp"
#include "cachebisect/protocol/python_settings.hpp"

namespace cachebisect {
namespace {

struct Line {
  std::string_view id;  ///< of the remedy
  std::string_view code;
};
/// Of the remedies that change no setting of the loader.
constexpr std::array kLines{
    Line{"move_to_workers", "return prepare(default_collate(samples))  # in collate_fn"},
    Line{"pack", "return torch.cat(tensors), torch.tensor([len(t) for t in tensors])"},
    Line{"fewer_objects", "return torch.tensor(values)"},
    Line{"partial_decode", "image.draft(\"RGB\", (256, 256))  # a JPEG, before it is loaded"},
    Line{"to_device", "images = normalize(images.to(device))"},
    Line{"ship_bytes", "images = images.to(device).float() / 255"},
    Line{"half", "images = images.to(torch.bfloat16)"},
    Line{"no_sync", "total += loss.detach()  # loss.item() once per log line"},
    Line{"precision", "with torch.autocast(device.type, dtype=torch.bfloat16):"},
    Line{"model", "model = torch.compile(model)"}};

}  // namespace

void write_in_python(Remedy& remedy) {
  for (const Edit& edit : remedy.edits) {
    const auto path = SettingPath::from_pointer(edit.path);
    const PythonSetting* const setting = path ? python_setting_at(path->dotted()) : nullptr;
    if (setting != nullptr) remedy.lines.push_back(python_line(*setting, edit.value));
  }
  remedy.edits.clear();
  remedy.flags.clear();
  const auto* const line = std::ranges::find(kLines, remedy.id, &Line::id);
  if (remedy.lines.empty() && line != kLines.end()) remedy.lines.emplace_back(line->code);
}

}  // namespace cachebisect
