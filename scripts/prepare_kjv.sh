#!/bin/bash
# Writes the King James Bible as plain text: one verse a line, "1:1 In the beginning ...".
#
#   scripts/prepare_kjv.sh FILE
#
# The text is the Debian package bible-kjv-text's, read by its program `bible`, whose lines are "Ge1:1 In the beginning".
set -euo pipefail
file=$1
[ -s "$file" ] && exit 0
bible=$(command -v bible || echo /usr/bin/bible)
[ -x "$bible" ] || { echo "prepare_kjv: no program bible: run scripts/install-deps.sh" >&2; exit 1; }

mkdir -p "$(dirname "$file")"
"$bible" -f "Genesis 1:1 - Revelation 22:21" < /dev/null | sed -E 's/^([0-9]?[A-Za-z]+)([0-9]+):([0-9]+) /\2:\3 /' > "$file.part"
verses=$(wc -l < "$file.part")
if [ "$verses" -ne 31102 ]; then
  echo "prepare_kjv: $bible gave $verses verses, not 31102" >&2
  exit 1
fi
mv "$file.part" "$file"
echo "$file: $verses verses, $(du -h "$file" | cut -f1)"
