#!/usr/bin/env bash
# Developer build: a virtual environment, one ninja tree, and an installation over the source packages.
#   tools/dev.sh [cmake options]        e.g. tools/dev.sh -DADJOINT_WERROR=ON
# ADJOINT_VENV (default .venv), ADJOINT_BUILD (default build), ADJOINT_JOBS (default 1) choose the places and the load.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
venv=${ADJOINT_VENV:-$root/.venv}
build=${ADJOINT_BUILD:-$root/build}
tools=(nanobind nanobind-backend scikit-build-core cmake ninja scipy-openblas32 hatchling editables
       numpy pytest pytest-xdist hypothesis nox ruff)

if [ ! -x "$venv/bin/python" ]; then
  python3 -m venv "$venv"
fi
find="from importlib.util import find_spec as f; raise SystemExit(not all(map(f, 'nanobind scipy_openblas32 ninja cmake numpy pytest'.split())))"
if ! "$venv/bin/python" -c "$find"; then
  "$venv/bin/python" -m pip install -q "${tools[@]}"
fi
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')

# The Python sources are read where they are: each package folder in site-packages holds links to them, beside the
# libraries and headers that `cmake --install` puts there.
for source in "$root"/packages/*/adjoint*/; do
  package=$(basename "$source")
  mkdir -p "$site/$package"
  find "$site/$package" -maxdepth 1 -type l -delete
  for entry in "$source"*; do
    case $entry in *__pycache__ | *.so) ;; *) ln -sfn "$entry" "$site/$package/$(basename "$entry")" ;; esac
  done
done

export PATH="$venv/bin:$PATH"
if [ $# -gt 0 ] || [ ! -f "$build/build.ninja" ]; then   # else ninja runs CMake where it must: after new files, too
  cmake -S "$root" -B "$build" -G Ninja -DPython_EXECUTABLE="$venv/bin/python" --log-level=WARNING "$@"
fi
cmake --build "$build" -j "${ADJOINT_JOBS:-1}"
cmake --install "$build" --prefix "$site" >/dev/null
echo "adjoint is installed in $site; run $venv/bin/python"
