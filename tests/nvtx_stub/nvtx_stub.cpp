// A listener for NVTX (NVTX_INJECTION64_PATH): keeps the names of the ranges that begin, and how
// many are open.
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include <nvtx3/nvToolsExt.h>

namespace {

struct Ranges {
  std::mutex mutex;
  std::set<std::string> names;
  int open = 0;
};

Ranges& ranges() {
  static Ranges all;
  return all;
}

int push(const char* name) {
  const std::scoped_lock lock(ranges().mutex);
  ranges().names.insert(name);
  return ranges().open++;
}

int pop() {
  const std::scoped_lock lock(ranges().mutex);
  return --ranges().open;
}

}  // namespace

extern "C" {

int nvtx_stub_saw(const char* name) {
  const std::scoped_lock lock(ranges().mutex);
  return static_cast<int>(ranges().names.count(name));
}
int nvtx_stub_open() {
  const std::scoped_lock lock(ranges().mutex);
  return ranges().open;
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0 ||
      size <= NVTX_CBID_CORE_RangePop) {
    return 0;
  }
  *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(push);
  *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  return 1;
}
}
