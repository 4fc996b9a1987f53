// The entry point of the LibTorch module, which make_model_step() loads at run time.
#include <exception>

#include "error_text.hpp"
#include "expectations.hpp"
#include "model_step.hpp"
#include "network.hpp"
#include <ATen/Parallel.h>

#include "cachebisect/base/denormals.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/pipeline/plugin.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect::torch_module {
namespace {

TrainStep* make_step(const ModelStepRequest& request) {
  const FlushDenormals flush;  // inherited by the threads that LibTorch starts here
  try {
    return new ModelStep(request);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ErrorKind::device,
                "LibTorch could not make " + title_of(request.train) + ": " + reason_of(error));
  }
}

void destroy_step(TrainStep* step) { delete step; }

int thread_count() { return at::get_num_threads(); }

std::int64_t count_parameters(const char* model, std::int64_t classes) {
  return parameter_count(Network(model, classes, /*seed=*/0));
}

}  // namespace
}  // namespace cachebisect::torch_module

extern "C" CACHEBISECT_INTERNAL_API const cachebisect::TorchModule* cachebisect_torch_module() {
  using namespace cachebisect::torch_module;
  static const cachebisect::TorchModule module{CACHEBISECT_PLUGIN_ABI, make_step, destroy_step,
                                               count_parameters, thread_count};
  return &module;
}
