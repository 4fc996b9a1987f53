# shellcheck shell=bash disable=SC2034
# Shared by the scripts in this folder: locations, options, messages.
# Everything they say goes to standard error; standard output belongs to the tool.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/build/venv
build=$root/build/release
torch_version=2.11.0

say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }
die() { say "$*"; exit 1; }

# Takes --cuda and --no-torch out of the arguments; the others are left in `arguments`.
want_cuda=no
want_torch=yes
arguments=()
read_options() {
  local argument
  for argument in "$@"; do
    case $argument in
      --cuda) want_cuda=yes ;;
      --no-torch) want_torch=no ;;
      *) arguments+=("$argument") ;;
    esac
  done
  if [ "$want_cuda" = yes ] && [ "$want_torch" = no ]; then
    die "--cuda and --no-torch exclude each other"
  fi
  if [ "$want_torch" = yes ] && has_gpu; then want_cuda=yes; fi
}

has_gpu() { [ -e /proc/driver/nvidia/version ] || [ -e /dev/nvidiactl ]; }

site_packages() { local found=("$venv"/lib/python3*/site-packages); printf '%s' "${found[0]}"; }

# The CUDA toolkit: the system's, else the one that setup put into the venv; nothing when neither.
cuda_toolkit() {
  local nvcc
  nvcc=$(command -v nvcc || true)
  for nvcc in "$nvcc" /usr/local/cuda/bin/nvcc "$(site_packages)/nvidia/cu13/bin/nvcc"; do
    if [ -n "$nvcc" ] && [ -x "$nvcc" ]; then dirname "$(dirname "$(readlink -f "$nvcc")")"; return; fi
  done
}

cmake_command() {
  if [ -x "$venv/bin/cmake" ]; then printf '%s' "$venv/bin/cmake"; else printf 'cmake'; fi
}

# The compiler of CXX, else the newest g++ that is new enough (12), else nothing.
compiler() {
  local candidate
  for candidate in "${CXX:-}" g++ g++-14 g++-13 g++-12; do
    if [ -n "$candidate" ] && command -v "$candidate" >/dev/null &&
       [ "$("$candidate" -dumpversion | cut -d. -f1)" -ge 12 ]; then
      printf '%s' "$candidate"
      return
    fi
  done
}

# Processes at once: one a core, but no more than the memory carries (1.5 GB each).
jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ {print int($2 / 1572864)}' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}

# Configures the release build when it was not, or with other options than now, then builds the
# targets given (none: all).
build_release() {
  local options=(-DCACHEBISECT_WERROR="${CACHEBISECT_WERROR:-OFF}"
                 -DCMAKE_CXX_COMPILER="$(compiler)")
  local toolkit
  toolkit=$(cuda_toolkit)
  if [ -n "$toolkit" ]; then
    options+=(-DCUDAToolkit_ROOT="$toolkit" -DCMAKE_CUDA_COMPILER="$toolkit/bin/nvcc")
  fi
  if [ "$want_cuda" = yes ]; then options+=(-DCACHEBISECT_WITH_CUDA=ON); fi
  if [ "$want_torch" = no ]; then options+=(-DCACHEBISECT_WITH_TORCH=OFF)
  else options+=(-DCACHEBISECT_WITH_TORCH=ON); fi

  local log=$build/configure.log
  if [ "${options[*]}" != "$(cat "$build/.configured" 2>/dev/null)" ]; then
    say "configuring $build (log: $log)"
    mkdir -p "$build"
    (cd "$root" && "$(cmake_command)" --preset release "${options[@]}") >"$log" 2>&1 ||
      { tail -n 30 "$log" >&2; die "CMake stopped; the whole log is $log"; }
    printf '%s' "${options[*]}" >"$build/.configured"
  fi
  local targets=()
  if [ $# -gt 0 ]; then targets=(--target "$@"); fi
  if [ -e "$build/.built" ]; then say "building what changed"
  else say "building with $(jobs) jobs; the first time takes some minutes"; fi
  "$(cmake_command)" --build "$build" -j "$(jobs)" "${targets[@]}" >&2
  touch "$build/.built"
}
