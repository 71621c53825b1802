#!/usr/bin/env sh
# Installs requirements/<set>.txt and this checkout into a virtual environment.
# Usage: requirements/install.sh <run|dev> <environment folder>
# Needs Python 3.11 or newer, and takes uv where it is on PATH (else venv and pip).
set -eu
cd "$(dirname "$0")/.."
set_name=$1
venv=$2
export UV_PYTHON_DOWNLOADS=never PIP_DISABLE_PIP_VERSION_CHECK=1

stop() {
  printf '%s\n' "$@" >&2
  exit 1
}

is_supported() {
  "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

# The interpreter that PYTHON names; without PYTHON, the first that is new enough.
find_python() {
  for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.14}; do
    if is_supported "$candidate"; then
      "$candidate" -c 'import sys; print(sys.executable)'
      return
    fi
  done
  stop "Ullage needs Python 3.11 or newer, and ${PYTHON:-python3} is not." \
    "Name one that is:  make run PYTHON=/path/to/python3.12"
}

make_environment() {
  python=$(find_python)
  if command -v uv >/dev/null 2>&1; then
    uv venv --quiet --python "$python" "$venv"
  else
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
      stop "This Python has no venv or no ensurepip; on Debian and Ubuntu: apt install python3-venv"
    "$python" -m venv "$venv"
  fi
}

install() {
  if command -v uv >/dev/null 2>&1; then
    uv pip install --quiet --python "$venv/bin/python" "$@"
  else
    "$venv/bin/python" -m pip --version >/dev/null 2>&1 ||
      "$venv/bin/python" -m ensurepip >/dev/null # an environment that uv made has no pip
    "$venv/bin/python" -m pip install --quiet --no-compile "$@" # as uv: Python compiles what it imports
  fi
}

is_supported "$venv/bin/python" || make_environment
echo "Installing requirements/$set_name.txt into $venv"
install --require-hashes -r "requirements/$set_name.txt"
install --no-deps --no-build-isolation -e sdk -e .
