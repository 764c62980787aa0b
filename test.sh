#!/usr/bin/env bash
# Installs what the tests need and runs them all: formatting, lints, unit tests, integration tests,
# tests against scikit-learn, LIBLINEAR, betacal, venn-abers, model-diagnostics, MAPIE and others, doc tests, and the
# docs build.
#
# The corpora behind some tests are looked for in $CALIBRANT_DATA (default: ../shared/data); tests
# that need a missing one say SKIPPED.
set -euo pipefail
cd "$(dirname "$0")"

say() { printf '\n== %s\n' "$*"; }

# Debian and Ubuntu ship Python without venv, and a fresh machine may lack a C compiler.
missing=()
command -v cc >/dev/null || missing+=(build-essential)
command -v python3 >/dev/null || missing+=(python3)
python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
if [ ${#missing[@]} -gt 0 ]; then
  say "installing ${missing[*]}"
  as_root=(); [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" apt-get install -qy "${missing[@]}"
fi
rustup component add rustfmt clippy >/dev/null 2>&1 || true

requirements=python/requirements-tests.txt
venv=target/venv
if ! cmp -s "$requirements" "$venv/installed.txt"; then
  say "peers for the tests, in $venv"
  python3 -m venv --clear "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check -r "$requirements"
  cp "$requirements" "$venv/installed.txt"
fi
export CALIBRANT_PYTHON="$PWD/$venv/bin/python"

# The same commit is tested with the same random cases; `cargo test` by itself draws new ones every time.
export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-7}"

say "formatting"
cargo fmt --all --check
say "lints"
cargo clippy --workspace --all-targets -- -D warnings
say "tests"
cargo test --workspace --all-targets
say "doc tests"
cargo test --workspace --doc
say "docs"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
say "all passed"
