#include "cachebisect/bisect/advice/code_remedies.hpp"

#include <string>

#include "cachebisect/base/setting_path.hpp"
#include "cachebisect/protocol/job_setting_text.hpp"

namespace cachebisect {

void write_in_code(Remedy& remedy, const JobSettings& settings) {
  std::string line = settings.advice_or(remedy.id, "");
  if (!line.empty()) {
    remedy.lines.push_back(std::move(line));
  } else {
    for (const Edit& edit : remedy.edits) {
      const auto path = SettingPath::from_pointer(edit.path);
      const JobSetting* const setting = path ? settings.at(path->dotted()) : nullptr;
      if (setting != nullptr) remedy.lines.push_back(code_line(*setting, edit.value));
    }
  }
  remedy.edits.clear();
  remedy.flags.clear();
}

}  // namespace cachebisect
