# shellcheck shell=bash disable=SC2034
# Shared by the scripts in this folder: locations, options, messages.
# Everything they say goes to standard error; standard output belongs to the tool.
set -euo pipefail

# Most modules of a package are never imported; Python compiles those that are.
export PIP_NO_COMPILE=1

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
  if [ "$want_torch" = yes ] && [ "$want_cuda" = no ] && has_gpu; then take_cuda_if_it_fits; fi
}

take_cuda_if_it_fits() {
  local problem
  problem=$(cuda_problem "$(driver_version)")
  if [ -z "$problem" ]; then want_cuda=yes
  else say "there is a GPU, but $problem; until then, for the CPU alone"; fi
}

# The files of the NVIDIA driver are looked for below this; tests have a folder there.
system_root=${CACHEBISECT_SYSTEM_ROOT:-}

# Under WSL2 the driver is that of Windows, behind /dev/dxg.
has_gpu() {
  [ -e "$system_root/proc/driver/nvidia/version" ] || [ -e "$system_root/dev/nvidiactl" ] || is_wsl_gpu
}

is_wsl_gpu() { [ -e "$system_root/dev/dxg" ] && [ -e "$system_root/usr/lib/wsl/lib/libcuda.so.1" ]; }

# The version of the NVIDIA driver, as 580.65.06; nothing when it is not known.
driver_version() {
  local smi version=''
  for smi in nvidia-smi "$system_root/usr/lib/wsl/lib/nvidia-smi"; do
    command -v "$smi" >/dev/null || continue
    version=$("$smi" --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1) || true
    if is_version "$version"; then printf '%s' "$version"; return; fi
  done
  # "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27 ..."
  version=$(grep -oE '[0-9]+\.[0-9]+(\.[0-9]+)?' "$system_root/proc/driver/nvidia/version" 2>/dev/null |
    head -n 1) || true
  if is_version "$version"; then printf '%s' "$version"; fi
}

is_version() { [[ $1 =~ ^[0-9]+\.[0-9.]+$ ]]; }

# The LibTorch that fits the driver $1 (empty: unknown): pypi, or an index of download.pytorch.org.
# Nothing for a driver that none fits.
torch_build_for() {
  local major=${1%%.*}
  if [ -z "$1" ] || [ "$major" -ge 580 ]; then printf pypi
  elif [ "$major" -ge 570 ]; then printf cu128
  elif [ "$major" -ge 525 ]; then printf cu126; fi
}

# The release of nvcc $1, as 12.8.
nvcc_release() { "$1" --version | sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p'; }

# Why the driver $1 (empty: unknown) cannot run what would be built, and what to do; nothing when it can.
# A program of CUDA 12 needs driver 525 (minor version compatibility), one of CUDA 13 needs 580.
cuda_problem() {
  local major=${1%%.*} toolkit release
  if [ -z "$1" ] || [ "$major" -ge 580 ]; then return; fi
  if [ "$major" -lt 525 ]; then
    printf '%s' "the NVIDIA driver is $1, and CUDA 12 needs 525 or newer: update the driver" \
      " (https://www.nvidia.com/drivers)"
    return
  fi
  toolkit=$(cuda_toolkit)
  release=13.0
  if [ -n "$toolkit" ]; then release=$(nvcc_release "$toolkit/bin/nvcc"); fi
  [ "${release%%.*}" -gt 12 ] || return 0
  printf '%s' "the NVIDIA driver $1 runs programs of CUDA 12, and the toolkit is ${toolkit:-that of PyPI}," \
    " $release: update the driver to 580 or newer, or put a CUDA Toolkit 12.x first on PATH" \
    " (https://developer.nvidia.com/cuda-toolkit-archive)"
}

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

# Configures the release build when it was not, or with other options than now.
configure_release() {
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
}

# The same, then builds the targets given (none: all).
build_release() {
  configure_release
  local targets=()
  if [ $# -gt 0 ]; then targets=(--target "$@"); fi
  if [ -e "$build/.built" ]; then say "building what changed"
  else say "building with $(jobs) jobs; the first time takes some minutes"; fi
  "$(cmake_command)" --build "$build" -j "$(jobs)" "${targets[@]}" >&2
  touch "$build/.built"
}
