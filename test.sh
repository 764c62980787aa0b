#!/usr/bin/env bash
# Installs what the tests need and runs them all: formatting, lints, unit tests, integration tests, the Python package,
# tests against scikit-learn, LIBLINEAR, betacal, venn-abers, model-diagnostics, MAPIE and others, doc tests, the
# docs build, licences of dependencies, and the packages that are published. At the end: how long each part took.
#
# The corpora behind some tests are looked for in $CALIBRANT_DATA (default: ../shared/data); tests
# that need a missing one say SKIPPED.
set -euo pipefail
cd "$(dirname "$0")"

say() { printf '\n== %s\n' "$*"; }

# `part NAME COMMAND…` runs a part of the tests and remembers its time: on the clock, and of all processors.
parts=()
spent="$(mktemp)"
built="$(mktemp)"
trap 'rm -f "$spent" "$built"' EXIT
# Sets `processor` to the seconds of all that has run so far. `times` knows this shell's own children: no subshell may ask it.
look() {
  times >"$spent"
  processor="$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); sum += 60 * t[1] + t[2] } printf "%.0f", sum }' "$spent")"
}
part() {
  local name="$1" clock="$SECONDS" processor before
  shift
  say "$name"
  look
  before="$processor"
  "$@"
  look
  parts+=("$(printf '%-20s %5d s %7d s' "$name" "$((SECONDS - clock))" "$((processor - before))")")
}
table() {
  local processor
  look
  printf '\n%-20s %7s %9s\n' part clock processor
  printf '%s\n' "${parts[@]}"
  printf '%-20s %5d s %7d s\n' all "$SECONDS" "$processor"
}

tools() {
  # Debian and Ubuntu ship Python without venv, and a fresh machine may lack a C compiler.
  local missing=() as_root=()
  command -v cc >/dev/null || missing+=(build-essential)
  command -v python3 >/dev/null || missing+=(python3)
  python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
  if [ ${#missing[@]} -gt 0 ]; then
    [ "$(id -u)" = 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update -q
    "${as_root[@]}" apt-get install -qy "${missing[@]}"
  fi
  rustup component add rustfmt clippy >/dev/null 2>&1 || true

  # Peers for the tests.
  local requirements=python/requirements-tests.txt
  if ! cmp -s "$requirements" "$venv/installed.txt"; then
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check -r "$requirements"
    cp "$requirements" "$venv/installed.txt"
  fi
}
# The calibrators without text, files or an index; the library without its optional parts.
parts_alone() {
  cargo clippy -p calibrant --no-default-features -- -D warnings
  local others
  others="$(cargo tree -p calibrant-calibration -e normal --prefix none | grep -vE '^(calibrant-calibration|rayon|rayon-core|either|crossbeam-[a-z]+|serde|serde_core|serde_derive|thiserror|thiserror-impl|proc-macro2|quote|syn|unicode-ident) v' || true)"
  [ -z "$others" ] || { printf 'calibrant-calibration needs more than it should: %s\n' "$others" >&2; return 1; }
}
# Everything in one build, so that all of it shares its dependencies: the Python module by itself would have them compiled again with
# other features. What was built is listed for `unit_tests`.
compile() {
  cargo build --workspace --lib --bins --tests --examples --benches --message-format=json-render-diagnostics >"$built"
}
# The programs of unit tests, one after the other, each in the folder of its crate as cargo runs them.
unit_tests() {
  python3 - "$built" <<'PYTHON'
import json, os, subprocess, sys

failed = []
for line in open(sys.argv[1]):
    message = json.loads(line)
    if message.get("executable") and message["profile"]["test"] and "test" not in message["target"]["kind"]:
        folder = os.path.dirname(message["manifest_path"])
        print("\n     Running", message["target"]["src_path"], flush=True)
        if subprocess.run([message["executable"]], cwd=folder, env={**os.environ, "CARGO_MANIFEST_DIR": folder}).returncode:
            failed.append(message["target"]["src_path"])
sys.exit(f"unit tests failed: {', '.join(failed)}" if failed else 0)
PYTHON
}
# Unit tests beside the integration tests: neither alone keeps all cores busy. What the former print is shown when they are done.
tests() {
  local printed units failed=0
  printed="$(mktemp)"
  unit_tests >"$printed" 2>&1 &
  units=$!
  cargo test --workspace --test '*' || failed=1
  wait "$units" || failed=1
  cat "$printed"
  rm -f "$printed"
  return "$failed"
}
# The Python package with the module that was compiled beside the tests: types, lints, and its own tests.
python_package() {
  local bin="$venv/bin"
  cp "${CARGO_TARGET_DIR:-target}/debug/lib_calibrant.so" python/calibrant/_calibrant.abi3.so
  "$bin/ruff" check -q python
  "$bin/ruff" format -q --check python
  (cd python && "../$bin/mypy" --config-file ../pyproject.toml -p calibrant)
  "$bin/pyright" --pythonpath "$bin/python" python/calibrant/_calibrant.pyi
  CALIBRANT_PROGRAM="$(realpath "${CARGO_TARGET_DIR:-target}/debug/calibrant")" PYTHONPATH="$PWD/python" MPLBACKEND=Agg "$bin/python" -m pytest -q -p no:cacheprovider python/tests
}
docs() { RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps; }

# The first build of a clone has nothing to build upon: what helps the next build would only slow this one.
[ -d target/debug/incremental ] || export CARGO_INCREMENTAL="${CARGO_INCREMENTAL:-0}"
venv=target/venv
export CALIBRANT_PYTHON="$PWD/$venv/bin/python"
# The same commit is tested with the same random cases; `cargo test` by itself draws new ones every time.
export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-7}"

part "tools and peers" tools
part "formatting" cargo fmt --all --check
part "lints" cargo clippy --workspace --all-targets -- -D warnings
part "compiled" compile
part "tests" tests
part "parts alone" parts_alone
part "python package" python_package
part "doc tests" cargo test --workspace --doc
part "docs" docs
part "licences and bans" scripts/licences
part "packages" scripts/publish-check --quick
table
say "all passed"
