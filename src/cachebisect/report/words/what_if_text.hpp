// The what-ifs of a report: what each gains, and a table of predicted next to measured.
#pragma once

#include <string>

#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/format/document/document.hpp"

namespace cachebisect {

/// "gains 34% (31 to 36%), measured", and what else there is to know; may be empty.
[[nodiscard]] std::string what_if_remark(const WhatIfResult& what_if, const Estimate& live);
/// For a terminal; empty if no what-if was asked.
[[nodiscard]] Document what_ifs_document(const Report& report);

}  // namespace cachebisect
