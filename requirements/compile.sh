#!/usr/bin/env sh
# Pins run.txt and dev.txt for every supported Python, with hashes and without any registry address.
set -eu
cd "$(dirname "$0")/.."
compile() {
  out=$1; shift
  uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 \
    --constraint requirements/constraints.txt --no-emit-package ullage --no-emit-package ullage-inspector \
    --group build --output-file "$out" "$@"
}
compile requirements/run.txt pyproject.toml
compile requirements/dev.txt --group dev --all-extras pyproject.toml sdk/pyproject.toml
