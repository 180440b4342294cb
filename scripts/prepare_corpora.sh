#!/bin/bash
# Writes the demo's three texts from their Debian packages, each into a folder of its own:
#
#   scripts/prepare_corpora.sh [FOLDER]        default: build/demo/text
#
#   FOLDER/kjv/kjv.txt          the King James Bible, one verse a line (bible-kjv-text, read by bible-kjv)
#   FOLDER/python/**/*.py       the Python standard library's sources (libpython3.11-stdlib and libpython3.11-minimal)
#   FOLDER/metamath/set.mm      the first 12 MB of Metamath's set.mm, whole statements (metamath-databases)
#   FOLDER/NAME/NOTICE          whose text it is and under what terms, as its package says
#
# A second run finds them and does nothing; a run that was cut off begins the unfinished one anew. set.mm is cut because all of it is 41 MB:
# half a minute of the demo to tokenise, while five minutes of training read a tenth of these 12.
set -euo pipefail
folder=${1:-build/demo/text}
mkdir -p "$folder"

fail() { echo "prepare_corpora: $1; scripts/install-deps.sh installs the packages" >&2; exit 1; }
tell() { echo "$1: $(find "$1" -type f ! -name NOTICE | wc -l) files, $(du -sh --apparent-size "$1" | cut -f1)"; }
# make NAME PACKAGE: runs the function NAME in FOLDER/NAME.part, which gets its name when all went well.
make() {
  if [ ! -d "$folder/$1" ]; then
    rm -rf "$folder/$1.part"
    mkdir "$folder/$1.part"
    "$1" "$folder/$1.part"
    echo "From the Debian package $2, whose copyright file says:" > "$folder/$1.part/NOTICE"
    cat "/usr/share/doc/$2/copyright" >> "$folder/$1.part/NOTICE" 2> /dev/null || echo "(it was installed without documentation)" >> "$folder/$1.part/NOTICE"
    mv "$folder/$1.part" "$folder/$1"
  fi
  tell "$folder/$1"
}

kjv() {
  local bible verses
  bible=$(command -v bible || echo /usr/bin/bible)
  [ -x "$bible" ] || fail "there is no program bible"
  # Its lines are "Ge1:1 In the beginning ...".
  "$bible" -f "Genesis 1:1 - Revelation 22:21" < /dev/null | sed -E 's/^([0-9]?[A-Za-z]+)([0-9]+):([0-9]+) /\2:\3 /' > "$1/kjv.txt"
  verses=$(wc -l < "$1/kjv.txt")
  [ "$verses" -eq 31102 ] || fail "$bible gave $verses verses, not 31102"
}

python() {
  local from=/usr/lib/python3.11
  [ -f "$from/argparse.py" ] || fail "there is no $from"
  # What the packages brought, nothing that was added since; text that is UTF-8 and not empty.
  dpkg-query -L libpython3.11-stdlib libpython3.11-minimal | grep "^$from/.*\.py\$" | sort -u | while read -r file; do
    { [ -s "$file" ] && [ ! -L "$file" ] && iconv -f utf-8 -t utf-8 "$file" > /dev/null 2>&1; } || continue
    mkdir -p "$1/$(dirname "${file#"$from/"}")"
    cp "$file" "$1/${file#"$from/"}"
  done
  [ "$(find "$1" -name '*.py' | wc -l)" -ge 200 ] || fail "$from holds too few sources"
}

metamath() {
  local file=/usr/share/metamath/databases/set.mm
  [ -f "$file" ] || fail "there is no $file"
  # Statements end with "$." and their lines; the last one that is whole ends the text.
  head -c 12000000 "$file" | tac | sed -n '/\$\.$/,$p' | tac > "$1/set.mm"
  [ -s "$1/set.mm" ] || fail "$file has no statements"
}

make kjv bible-kjv-text
make python libpython3.11-stdlib
make metamath metamath-databases
