// Parsing, prediction and arm of each form stand in one file, so that a new form touches it alone.
#include "cachebisect/bisect/costs/what_if.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/number_parse.hpp"
#include "cachebisect/base/setting_path.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect {
namespace {

using Json = nlohmann::json;

constexpr double kMaxFactor = 1e6;
const std::string kStep = "train";
const std::string kForms =
    "forms: workers=4, batch_size=256, prefetch=4, STAGE=free, STAGE/2, STAGE*0.5, train/2, "
    "PATH=JSON as for --set";

[[noreturn]] void refuse(std::string_view text, const std::string& what) {
  throw Error(ErrorKind::usage, "--what-if " + std::string(text) + ": " + what + "; " + kForms);
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
    const std::size_t equals = text_.find('=');
    if (equals != std::string_view::npos) {
      assignment(text_.substr(0, equals), text_.substr(equals + 1));
    } else {
      scaling(text_.find_last_of("/*"));
    }
    return std::move(result_);
  }

 private:
  void assignment(std::string_view left, std::string_view right) {
    if (left.empty() || right.empty()) refuse(text_, "write NAME=VALUE");
    if (counted(left, right)) return;
    if (right == "free") return subject(left, 0);
    const auto names = names_of(chain_);
    if (std::find(names.begin(), names.end(), left) != names.end()) {
      refuse(text_, "a stage can be free or cost a part, and its parameters are set as stages." +
                        std::string(left) + ".KEY=JSON");
    }
    setting(left, right);
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
      refuse(text_, std::string(left) + " is a whole number from " +
                        std::to_string(known->setting.min) + " to " +
                        std::to_string(known->setting.max));
    }
    const auto samples =
        static_cast<std::int64_t>(std::min<std::uint64_t>(chain_.samples, 1 << 30));
    if (known->kind == WhatIf::Kind::batch_size && samples > 0 && *value > samples) {
      refuse(text_, "the data set holds " + std::to_string(chain_.samples) + " samples");
    }
    result_.kind = known->kind;
    result_.count = *value;
    return true;
  }

  void scaling(std::size_t sign) {
    if (sign == std::string_view::npos || sign == 0) refuse(text_, "not understood");
    const auto value = parse_number<double>(text_.substr(sign + 1));
    const bool divides = text_[sign] == '/';
    if (!value || !std::isfinite(*value) || *value < 0 || (divides && *value == 0)) {
      refuse(text_, quote(text_.substr(sign + 1)) + " is not a positive number");
    }
    const double factor = divides ? 1 / *value : *value;
    if (factor > kMaxFactor) refuse(text_, "no cost can be multiplied by more than 1000000");
    subject(text_.substr(0, sign), factor);
  }

  /// A stage or the training step.
  void subject(std::string_view name, double factor) {
    result_.factor = factor;
    const auto names = names_of(chain_);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) {
      result_.kind = WhatIf::Kind::stage;
      result_.stage = static_cast<std::size_t>(found - names.begin());
      return;
    }
    if (name != kStep) {
      refuse(text_, "there is no stage " + quote(name) + ", " + suggestion(name, names));
    }
    result_.kind = WhatIf::Kind::step;
  }

  void setting(std::string_view path, std::string_view value) {
    result_.kind = WhatIf::Kind::setting;
    result_.path = std::string(path);
    // As for --set: JSON, else a string.
    const Json json = Json::parse(value, nullptr, false);
    result_.value = json.is_discarded() ? Json(std::string(value)).dump() : json.dump();
    const auto parsed = SettingPath::from_dotted(path);
    if (!parsed || parsed->parts().empty()) refuse(text_, quote(path) + " is not a path");
    const std::string& first = parsed->parts().front();
    if (std::ranges::find(settings::kKeys, first) == settings::kKeys.end()) {
      auto known = names_of(chain_);
      known.insert(known.end(), settings::kKeys.begin(), settings::kKeys.end());
      refuse(text_, "there is no " + quote(first) + ", " + suggestion(first, known));
    }
    if (first == "stages" && parsed->parts().size() > 1) check_stage(parsed->parts()[1]);
  }

  void check_stage(const std::string& name) const {
    const auto names = names_of(chain_);
    const auto index = parse_number<std::size_t>(name);
    const bool known = std::find(names.begin(), names.end(), name) != names.end();
    if (known || (index && *index < names.size())) return;
    refuse(text_, "there is no stage " + quote(name) + ", " + suggestion(name, names));
  }

  std::string_view text_;
  const ChainDescription& chain_;
  WhatIf result_;
};

constexpr double kExplained = 0.10;  ///< a larger misfit is reported

CostChanges changes_of(const WhatIf& what_if) {
  CostChanges changes;
  if (what_if.kind == WhatIf::Kind::workers) changes.workers = static_cast<int>(what_if.count);
  if (what_if.kind == WhatIf::Kind::step) changes.step_factor = what_if.factor;
  if (what_if.kind == WhatIf::Kind::stage) {
    changes.stages = {{.stage = what_if.stage, .factor = what_if.factor}};
  }
  return changes;
}

void predict_batch_size(const WhatIf& what_if, const ChainDescription& chain,
                        const Forecast& forecast, WhatIfResult& out) {
  const CostChanges constant{
      .workers = {},
      .stages = {},
      .step_factor = static_cast<double>(chain.batch_size) / static_cast<double>(what_if.count)};
  if (chain.device_kind == DeviceKind::emulated) {
    out.predicted = forecast.after(constant);
    out.note = "an emulated step takes the same time whatever the batch";
    return;
  }
  out.predicted = forecast.between({}, constant);
  out.note =
      "what a step takes with another batch is not known: from as long as now to in proportion";
}

/// Steady costs need no queue, so only what is now lost to waiting can be gained.
void predict_prefetch(const WhatIf& what_if, const ChainDescription& chain,
                      const Forecast& forecast, WhatIfResult& out) {
  const double live = *forecast.live().value;
  Estimate& predicted = out.predicted;
  predicted = forecast.after({});
  predicted.value = live;
  if (what_if.count > chain.ring_prefetch) {
    predicted.interval->high = std::max(predicted.interval->high, forecast.fully_queued());
  } else if (what_if.count < chain.ring_prefetch) {
    predicted.interval->low = std::min(predicted.interval->low, forecast.unqueued());
  }
  out.note = "with steady costs the length of the queue changes nothing";
}

bool is_known(const WhatIf& what_if, const Forecast& forecast) {
  return what_if.kind != WhatIf::Kind::stage || forecast.costs().stages[what_if.stage].known;
}

Json effective_stage(const WhatIf& what_if, const ChainDescription& chain) {
  const Json spec = Json::parse(chain.effective_json, nullptr, false);
  if (!spec.is_object() || !spec.contains("stages")) return nullptr;
  const Json& stages = spec["stages"];
  return what_if.stage < stages.size() ? stages[what_if.stage] : Json(nullptr);
}

WhatIfArm with(const std::string& path, const std::string& value) {
  return {Arm{.kind = ArmKind::live, .overrides = {{path, value}}}, ""};
}

WhatIfArm arm_of_stage(const WhatIf& what_if, const ChainDescription& chain) {
  const StageDescription& stage = chain.stages[what_if.stage];
  if (what_if.factor == 0) {
    return {Arm{.kind = ArmKind::bypass, .stage = static_cast<int>(what_if.stage) + 1}, ""};
  }
  const Json spec = effective_stage(what_if, chain);
  if (stage.type.starts_with("synthetic.") && spec.is_object() && spec.contains("us")) {
    return with("stages." + stage.name + ".us",
                Json(spec["us"].get<double>() * what_if.factor).dump());
  }
  return {std::nullopt, "a cheaper " + stage.name + " cannot be run, only predicted"};
}

}  // namespace

WhatIf parse_what_if(std::string_view text, const ChainDescription& chain) {
  return Parser(text, chain).parse();
}

WhatIfResult predict_what_if(const WhatIf& what_if, const ChainDescription& chain,
                             const std::optional<Forecast>& forecast) {
  WhatIfResult out;
  out.change = what_if.text;
  if (what_if.kind == WhatIf::Kind::setting) {
    out.note = what_if.path == settings::kLoader
                   ? "with steady costs the loader changes nothing, and what slow samples hold "
                     "back is not predicted; --verify runs it"
                   : "the cost model does not cover this setting; --verify runs it";
    return out;
  }
  if (!forecast) {
    out.note = "the cost model could not be fitted; --verify may tell";
    return out;
  }
  if (!is_known(what_if, *forecast)) {
    out.note = "what " + chain.stages[what_if.stage].name +
               " costs by itself was not measured; --boundaries " + std::to_string(what_if.stage) +
               "," + std::to_string(what_if.stage + 1) + " does";
    return out;
  }
  if (what_if.kind == WhatIf::Kind::batch_size) {
    predict_batch_size(what_if, chain, *forecast, out);
  } else if (what_if.kind == WhatIf::Kind::prefetch) {
    predict_prefetch(what_if, chain, *forecast, out);
  } else {
    out.predicted = forecast->after(changes_of(what_if));
  }
  if (forecast->misfit().live > kExplained) {
    out.add_note("the cost model does not explain this pipeline well (it is off by " +
                 percent(forecast->misfit().live) + "); --verify tells");
  }
  return out;
}

WhatIfArm arm_of(const WhatIf& what_if, const ChainDescription& chain) {
  const std::string count = std::to_string(what_if.count);
  switch (what_if.kind) {
    case WhatIf::Kind::workers:
      return with("workers", count);
    case WhatIf::Kind::batch_size:
      return with("batch_size", count);
    case WhatIf::Kind::prefetch:
      return with("prefetch", count);
    case WhatIf::Kind::setting:
      return with(what_if.path, what_if.value);
    case WhatIf::Kind::stage:
      return arm_of_stage(what_if, chain);
    case WhatIf::Kind::step:
      return {std::nullopt, "another training step cannot be run, only predicted"};
  }
  return {};
}

}  // namespace cachebisect
