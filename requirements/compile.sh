#!/usr/bin/env sh
# Pins the sets for every supported Python, with hashes and without any registry address:
# run.txt (one machine), server.txt (PostgreSQL and Redis too), dev.txt (all of it, and the tools).
set -eu
cd "$(dirname "$0")/.."
compile() {
  out=$1; shift
  uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 \
    --constraint requirements/constraints.txt --no-emit-package ullage --no-emit-package ullage-inspector \
    --group build --output-file "$out" "$@"
}
compile requirements/run.txt pyproject.toml
compile requirements/server.txt --extra postgres --extra redis pyproject.toml
compile requirements/dev.txt --group dev --all-extras pyproject.toml sdk/pyproject.toml
