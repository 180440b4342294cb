#!/bin/bash
# Prints the newest Python 3 of this machine that runs and makes environments: of PATH, and of pyenv where that is; python3 itself where none is newer.
set -euo pipefail
shopt -s nullglob extglob
candidates=()
IFS=: read -ra folders <<< "$PATH"
for folder in "${folders[@]}"; do candidates+=("$folder"/python3.+([0-9])); done
command -v pyenv > /dev/null && candidates+=("$(pyenv root)"/versions/*/bin/python3)
candidates+=("$(command -v python3)")  # the last of equals is taken
for python in "${candidates[@]}"; do
  if version=$("$python" -c 'import ensurepip, sys, venv; print("%d.%d.%d" % sys.version_info[:3])' 2> /dev/null); then echo "$version $python"; fi
done | sort -s -V -k1,1 | tail -1 | cut -d' ' -f2-
