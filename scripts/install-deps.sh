#!/bin/bash
# Installs the Debian packages that building, testing and the demo need; only those that are missing.
#
#   scripts/install-deps.sh [--ask] [--list] [PACKAGE...]
#
# --ask    asks once before installing, if a person is at the terminal
# --list   prints the packages and does nothing
# PACKAGE  further ones: what `make bench` and `make soak` need besides
set -euo pipefail

packages=(
  clang-19 g++ cmake ninja-build ccache mold pkgconf python3 ca-certificates  # building
  llvm-19-dev zlib1g-dev libzstd-dev                                # machine code
  libfmt-dev nlohmann-json3-dev libyaml-cpp-dev libcli11-dev        # text, configuration, command lines
  libopenblas-serial-dev                                            # factorisations of large matrices
  libboost1.81-dev libssl-dev libcurl4-openssl-dev libpugixml-dev   # HTTP, object stores
  libflatbuffers-dev                                                # exports of JAX
  libgloo-dev                                                       # bytes between processes
  clang-format-19 libgtest-dev libgmock-dev libmpfr-dev libgmp-dev                  # tests, and the truth of elementary functions
  libsentencepiece-dev libicu-dev libpcre2-dev libcairo2-dev        # tokenizers, chat templates, pictures
  liblzma-dev libbz2-dev libbrotli-dev libsnappy-dev libxxhash-dev  # compressed data files, hashes of MDS
  libpng-dev libjpeg62-turbo-dev                                    # pictures in data
  bible-kjv bible-kjv-text libpython3.11-stdlib metamath-databases  # the demo's texts
  dataset-fashion-mnist                                             # pictures for an example
)

ask=false
for option in "$@"; do
  case $option in
    --ask) ask=true ;;
    --list) printf '%s\n' "${packages[@]}"; exit 0 ;;
    [a-z]*) packages+=("$option") ;;
    *) echo "install-deps: unknown option $option (--ask, --list)" >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query > /dev/null; then
  echo "install-deps: this is no Debian: install the counterparts of ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "installing Debian packages: ${missing[*]}"
if $ask && [ -t 0 ] && [ -t 1 ]; then
  read -r -p "go on? [Y/n] " answer
  case $answer in [Nn]*) echo "nothing was installed"; exit 1 ;; esac
fi

root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo > /dev/null || { echo "install-deps: neither root nor sudo: run as root: apt-get install ${missing[*]}" >&2; exit 1; }
  root=(sudo)
fi
apt() { "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 "$@"; }

install() { apt install -y --no-install-recommends "${missing[@]}" > /dev/null; }
# The lists may be absent or older than the packages they name, so they are renewed when they do not serve.
if ! apt install --simulate --no-install-recommends "${missing[@]}" > /dev/null 2>&1 || ! install 2> /dev/null; then
  apt update
  install
fi
