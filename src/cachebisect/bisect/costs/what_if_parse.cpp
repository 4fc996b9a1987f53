// The forms of a what-if as the user writes them.
#include <algorithm>
#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/json_depth.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/base/number_parse.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/base/setting_path.hpp"
#include "cachebisect/base/utf8.hpp"
#include "cachebisect/bisect/costs/order_changes.hpp"
#include "cachebisect/bisect/costs/sample_stages.hpp"
#include "cachebisect/bisect/costs/what_if.hpp"
#include "cachebisect/protocol/job_setting_text.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect {
namespace {

using Json = nlohmann::json;

constexpr double kMaxFactor = 1e6;       // more is a slip of the keyboard
constexpr std::size_t kMostShown = 400;  // bytes of what the user wrote
const std::string kStep = "train";
const std::string kStageForms = "STAGE=free, STAGE/2, STAGE*0.5, train/2, READ.latency/2";
constexpr std::string_view kLatency = ".latency";
constexpr std::string_view kCached = ".cache";
const std::string kCacheForm = "READ.cache=DIR, ";
const std::string kDeviceForm = "STAGE=device, ";
const std::string kEarlierForm = "STAGE=earlier, ";

std::string forms(const JobSettings& settings) {
  if (settings.of_file) {
    return "forms: workers=4, batch_size=256, prefetch=4, " + kCacheForm + kStageForms +
           ", PATH=JSON as for --set";
  }
  std::string names;
  for (const JobSetting& setting : settings.all) {
    if (setting.path == kReadCache) continue;
    names += (names.empty() ? "" : ", ") + setting.name;
  }
  const auto if_known = [&](std::string_view path, const std::string& form) {
    return settings.at(path) != nullptr ? form : std::string();
  };
  return "forms: " + if_known(settings::kOnDevice, kDeviceForm) +
         if_known(settings::kOrder, kEarlierForm) + if_known(kReadCache, kCacheForm) + kStageForms +
         (names.empty() ? std::string() : ", and NAME=VALUE for " + names);
}

std::vector<std::string> names_of(const ChainDescription& chain) {
  std::vector<std::string> names;
  for (const StageDescription& stage : chain.stages) names.push_back(stage.name);
  return names;
}

class Parser {
 public:
  Parser(std::string_view text, const ChainDescription& chain) : text_(text), chain_(chain) {
    result_.text = std::string(text);
  }

  WhatIf parse() {
    if (first_invalid_utf8(text_)) refuse("not UTF-8");
    if (is_nested_too_deep(text_)) {
      refuse("nested deeper than " + std::to_string(kMostJsonDepth) + " levels");
    }
    const std::size_t equals = text_.find('=');
    if (equals != std::string_view::npos) {
      assignment(text_.substr(0, equals), text_.substr(equals + 1));
    } else if (!switched_on()) {
      scaling(text_.find_last_of("/*"));
    }
    return std::move(result_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::usage, "--what-if " + printable(text_.substr(0, kMostShown)) + ": " +
                                      what + "; " + forms(chain_.settings));
  }

  void assignment(std::string_view left, std::string_view right) {
    if (left.empty() || right.empty()) refuse("write NAME=VALUE");
    const bool of_file = chain_.settings.of_file;
    if (of_file && counted(left, right)) return;
    if (right == "free") return subject(left, 0);
    if (right == "device" && on_device(left)) return;
    if (right == "earlier" && earlier(left)) return;
    if (cached_reads(left, right)) return;
    if (find_stage(left)) {
      refuse("a stage can be free or cost a part" +
             (of_file ? ", and its parameters are set as stages." + std::string(left) + ".KEY=JSON"
                      : std::string()));
    }
    of_file ? setting(left, right) : setting_of_code(left, right);
  }

  /// The place of a stage, by its name or by the first word of it, if no other stage has the same.
  [[nodiscard]] std::optional<std::size_t> find_stage(std::string_view name) const {
    const auto names = names_of(chain_);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    const auto begins = [&](const std::string& stage) {
      return stage.starts_with(std::string(name) + " ");
    };
    const auto first = std::find_if(names.begin(), names.end(), begins);
    if (first == names.end() || std::find_if(first + 1, names.end(), begins) != names.end()) {
      return std::nullopt;
    }
    return static_cast<std::size_t>(first - names.begin());
  }

  void setting_of_code(std::string_view name, std::string_view value) {
    const JobSetting* const known = chain_.settings.find(name);
    if (known == nullptr) {
      auto names = names_of(chain_);
      for (const JobSetting& one : chain_.settings.all) names.push_back(one.name);
      refuse("there is no " + quote(name) + ", " + suggestion(name, names));
    }
    if (known->path == kReadCache) refuse("write READ.cache=DIR, READ for the stage that reads");
    const auto json = value_json(*known, value);
    if (!json) refuse(std::string(name) + " is " + allowed_values(*known));
    if (known->of_workers && chain_.workers == 0) {
      refuse("there are no workers to change");
    }
    if (counted(known->path, *json)) return;
    result_.kind = WhatIf::Kind::setting;
    result_.path = std::string(name);
    result_.value = *json;
  }

  /// The name of a flag of code alone: it is to be true.
  bool switched_on() {
    const JobSetting* const known = chain_.settings.of_file ? nullptr : chain_.settings.find(text_);
    if (known == nullptr || known->values != SettingValues::flag) return false;
    setting_of_code(text_, "true");
    return true;
  }

  /// A stage of code that can run on the device.
  bool on_device(std::string_view name) {
    const JobSetting* const known = chain_.settings.at(settings::kOnDevice);
    const auto stage = find_stage(name);
    if (!stage || chain_.settings.of_file) return false;
    if (known == nullptr) refuse("no stage of this job can be run on another device than the CPU");
    const auto json = value_json(*known, first_word(chain_.stages[*stage].name));
    if (!json) {
      refuse("only what runs last, and draws no random numbers, can run on the device: " +
             allowed_values(*known));
    }
    result_.kind = WhatIf::Kind::setting;
    result_.path = known->name;
    result_.value = *json;
    return true;
  }

  /// A stage of code that crops: as far up as the job says that it can go.
  bool earlier(std::string_view name) {
    const auto stage = find_stage(name);
    if (!stage || chain_.settings.of_file) return false;
    const JobSetting* const known = chain_.settings.at(settings::kOrder);
    if (known == nullptr) refuse("this job has no crop behind stages that it may run before");
    for (const std::string& word : known->words) {
      const auto move = stage_move(chain_, word);
      if (!move || move->stage != *stage) continue;
      result_.kind = WhatIf::Kind::setting;
      result_.path = known->name;
      result_.value = Json(word).dump();
      return true;
    }
    refuse("only a crop can run earlier, before what works on each pixel by itself: " +
           allowed_values(*known));
  }

  /// "NAME.cache", of a stage that reads.
  bool cached_reads(std::string_view left, std::string_view folder) {
    if (!left.ends_with(kCached)) return false;
    const auto stage = find_stage(left.substr(0, left.size() - kCached.size()));
    if (!stage) return false;  // "stages.0.cache" is a path.
    if (chain_.stages[*stage].category != Category::read) {
      refuse("only what a stage reads is kept in a folder");
    }
    const JobSettings& settings = chain_.settings;
    if (!settings.of_file && settings.at(kReadCache) == nullptr) {
      refuse(
          "what this job reads cannot be kept: it differs from epoch to epoch, is kept already, "
          "or its samples have no index");
    }
    result_.kind = WhatIf::Kind::read_cache;
    result_.stage = *stage;
    result_.value = Json(std::string(folder)).dump();
    return true;
  }

  bool counted(std::string_view left, std::string_view right) {
    struct Known {
      settings::Count setting;
      WhatIf::Kind kind;
    };
    static constexpr std::array kKnown{Known{settings::kWorkers, WhatIf::Kind::workers},
                                       Known{settings::kBatchSize, WhatIf::Kind::batch_size},
                                       Known{settings::kPrefetch, WhatIf::Kind::prefetch}};
    const auto* const known = std::find_if(kKnown.begin(), kKnown.end(),
                                           [&](const Known& k) { return k.setting.key == left; });
    if (known == kKnown.end()) return false;
    const auto value = parse_number<std::int64_t>(right);
    if (!value || !known->setting.allows(*value)) {
      refuse(std::string(left) + " is a whole number from " + std::to_string(known->setting.min) +
             " to " + std::to_string(known->setting.max));
    }
    const auto samples =
        static_cast<std::int64_t>(std::min<std::uint64_t>(chain_.samples, 1 << 30));
    if (known->kind == WhatIf::Kind::batch_size && samples > 0 && *value > samples) {
      refuse("the data set holds " + std::to_string(chain_.samples) + " samples");
    }
    result_.kind = known->kind;
    result_.count = *value;
    return true;
  }

  void scaling(std::size_t sign) {
    if (sign == std::string_view::npos || sign == 0) refuse("not understood");
    const auto value = parse_number<double>(text_.substr(sign + 1));
    const bool divides = text_[sign] == '/';
    if (!value || !std::isfinite(*value) || *value < 0 || (divides && *value == 0)) {
      refuse(quote(text_.substr(sign + 1)) + " is not a positive number");
    }
    const double factor = divides ? 1 / *value : *value;
    if (factor > kMaxFactor) refuse("no cost can be multiplied by more than 1000000");
    subject(text_.substr(0, sign), factor);
  }

  /// A stage or the training step.
  void subject(std::string_view name, double factor) {
    result_.factor = factor;
    if (const auto stage = find_stage(name)) {
      result_.kind = WhatIf::Kind::stage;
      result_.stage = *stage;
      return;
    }
    if (latency_of(name)) return;
    if (name != kStep) {
      refuse("there is no stage " + quote(name) + ", " + suggestion(name, names_of(chain_)));
    }
    result_.kind = WhatIf::Kind::step;
  }

  /// "NAME.latency", of a stage that reads.
  bool latency_of(std::string_view name) {
    if (!name.ends_with(kLatency)) return false;
    const std::string_view stage_name = name.substr(0, name.size() - kLatency.size());
    const auto stage = find_stage(stage_name);
    if (!stage) {
      refuse("there is no stage " + quote(stage_name) + ", " +
             suggestion(stage_name, names_of(chain_)));
    }
    if (chain_.stages[*stage].category != Category::read) {
      refuse("only a stage that reads has a latency");
    }
    result_.kind = WhatIf::Kind::latency;
    result_.stage = *stage;
    return true;
  }

  void setting(std::string_view path, std::string_view value) {
    result_.kind = WhatIf::Kind::setting;
    result_.path = std::string(path);
    // As for --set: JSON, else a string.
    const Json json = Json::parse(value, nullptr, false);
    result_.value = json.is_discarded() ? Json(std::string(value)).dump() : json.dump();
    const auto parsed = SettingPath::from_dotted(path);
    if (!parsed || parsed->parts().empty()) refuse(quote(path) + " is not a path");
    const std::string& first = parsed->parts().front();
    if (std::ranges::find(settings::kKeys, first) == settings::kKeys.end()) {
      auto known = names_of(chain_);
      known.insert(known.end(), settings::kKeys.begin(), settings::kKeys.end());
      refuse("there is no " + quote(first) + ", " + suggestion(first, known));
    }
    if (first == "stages" && parsed->parts().size() > 1) check_stage(parsed->parts()[1]);
  }

  void check_stage(const std::string& name) const {
    const auto names = names_of(chain_);
    const auto index = parse_number<std::size_t>(name);
    const bool known = std::find(names.begin(), names.end(), name) != names.end();
    if (known || (index && *index < names.size())) return;
    refuse("there is no stage " + quote(name) + ", " + suggestion(name, names));
  }

  std::string_view text_;
  const ChainDescription& chain_;
  WhatIf result_;
};

}  // namespace

WhatIf parse_what_if(std::string_view text, const ChainDescription& chain) {
  return Parser(text, chain).parse();
}

}  // namespace cachebisect
