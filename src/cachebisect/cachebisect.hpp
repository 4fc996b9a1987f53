// Everything a user of the library needs.
#pragma once

#include "cachebisect/api/bisect_pipeline.hpp"         // IWYU pragma: export
#include "cachebisect/base/error.hpp"                  // IWYU pragma: export
#include "cachebisect/bisect/bisect.hpp"               // IWYU pragma: export
#include "cachebisect/bisect/reanalyse.hpp"            // IWYU pragma: export
#include "cachebisect/compare/compare_jobs.hpp"        // IWYU pragma: export
#include "cachebisect/compare/compare_reports.hpp"     // IWYU pragma: export
#include "cachebisect/compare/comparison_writers.hpp"  // IWYU pragma: export
#include "cachebisect/pipeline/pipeline.hpp"           // IWYU pragma: export
#include "cachebisect/pipeline/registry.hpp"           // IWYU pragma: export
#include "cachebisect/replay/job/open_job.hpp"         // IWYU pragma: export
#include "cachebisect/replay/pipeline_replayer.hpp"    // IWYU pragma: export
#include "cachebisect/report/json/read_report.hpp"     // IWYU pragma: export
#include "cachebisect/report/writers.hpp"              // IWYU pragma: export
#include "cachebisect/train/train_step.hpp"            // IWYU pragma: export
