#!/bin/sh
# Installs the command `hook` @VERSION@ for the calling user: no root, and no file but the command.
#
#   curl -fsSL @URL@/install.sh | sh
#   wget -qO- @URL@/install.sh | sh
#
#   HOOK_INSTALL_DIR    the folder of the command; ~/.local/bin by default
#   HOOK_DOWNLOAD_URL   a mirror of the release's files
#
# The archive must have the sum that stands below.

set -eu

VERSION='@VERSION@'
URL='@URL@'
# Sum and target of each archive of this release.
SUMS='
@SUMS@
'

say() { printf '%s\n' "$*" >&2; }
fail() { say "install.sh: $*"; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }
sum_of() { printf '%s\n' "$SUMS" | sed -n "s/^\([0-9a-f]*\) $1\$/\1/p"; }

# Prints the targets whose archives run here, the best first.
targets() {
  system=$(uname -s) machine=$(uname -m)
  case $machine in
    x86_64 | amd64) machine=x86_64 loader=/lib64/ld-linux-x86-64.so.2 ;;
    aarch64 | arm64) machine=aarch64 loader=/lib/ld-linux-aarch64.so.1 ;;
    *) loader=/ ;;
  esac
  case $system in
    Linux)
      # The one for musl is static and runs everywhere; glibc's allocator is faster.
      version=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed 's/[^0-9.]//g')
      major=${version%%.*} minor=${version#*.} minor=${minor%%.*}
      if [ -e "$loader" ] && [ "${major:-0}" -eq 2 ] && [ "${minor:-0}" -ge @GLIBC_MINOR@ ]; then
        echo "$machine-unknown-linux-gnu"
      fi
      echo "$machine-unknown-linux-musl"
      # Where the version is not known. The binary is tried before it is installed.
      [ ! -e "$loader" ] || echo "$machine-unknown-linux-gnu"
      ;;
    Darwin)
      # A shell under Rosetta is told that the processor is Intel's.
      [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" != 1 ] || machine=aarch64
      echo "$machine-apple-darwin"
      ;;
    *) echo "$machine-$system" ;;
  esac
}

download() {
  if has curl; then
    curl -fsSL --retry 2 --connect-timeout 30 -o "$2" "$1"
  elif has wget; then
    case $(wget --version 2>/dev/null) in
      # GNU's tries twenty times.
      *GNU*) wget -nv --tries=3 --timeout=30 -O "$2" "$1" ;;
      *) wget -q -O "$2" "$1" ;;
    esac
  else
    fail "neither curl nor wget is here, so nothing can be downloaded; install one of them"
  fi || fail "failed to download $1; look at the network and at HOOK_DOWNLOAD_URL, and run this again; nothing was installed"
}

check_sum() {
  if has sha256sum; then
    found=$(sha256sum <"$1")
  elif has shasum; then
    found=$(shasum -a 256 <"$1")
  elif has openssl; then
    found=$(openssl dgst -sha256 -r <"$1")
  else
    fail "none of sha256sum, shasum and openssl is here, so the download cannot be checked; install one of them"
  fi
  found=${found%% *}
  [ "$found" = "$2" ] ||
    fail "the sum of $3 is $found instead of $2: the download is incomplete or not the released file; nothing was installed"
}

# Fails if a folder, or what would hold it, cannot be written.
check_writable() {
  existing=$1
  while [ ! -e "$existing" ]; do existing=$(dirname "$existing"); done
  [ -d "$existing" ] && [ -w "$existing" ] && [ -x "$existing" ] ||
    fail "cannot write into $1: $existing is not a folder that you may write; name another one: HOOK_INSTALL_DIR=/some/folder"
}

# Fails if the place of the command is taken by something that this script did not put there.
check_replaceable() {
  if [ -L "$1" ]; then
    fail "$1 is a link that another installer made; uninstall that one first, or name another folder: HOOK_INSTALL_DIR=/some/folder"
  elif [ -d "$1" ]; then
    fail "$1 is a folder; name another one to install into: HOOK_INSTALL_DIR=/some/folder"
  elif [ -e "$1" ]; then
    case $("$1" --version 2>/dev/null </dev/null) in
      'hook '[0-9]*) ;;
      *) fail "$1 is another program of that name; name another folder: HOOK_INSTALL_DIR=/some/folder" ;;
    esac
  fi
}

# Says what is to be added to PATH, and which other `hook` comes first there.
look_at_path() {
  first='' rest=$PATH:
  while [ -n "$rest" ] && [ -z "$first" ]; do
    entry=${rest%%:*} rest=${rest#*:}
    [ -f "$entry/hook" ] && [ -x "$entry/hook" ] && first=$entry/hook
  done
  case :$PATH: in
    *:"$1":* | *:"$1"/:*)
      [ "$first" = "$1/hook" ] || [ "$first" = "$1//hook" ] ||
        say "warning: another hook comes first in PATH and is still the one that runs: $first; remove it, or put $1 before its folder"
      return
      ;;
  esac
  case ${SHELL:-} in
    */fish) say "$1 is not in PATH. Add it:  fish_add_path $1" ;;
    */zsh) say "$1 is not in PATH. Add it:  echo 'export PATH=\"$1:\$PATH\"' >>~/.zshrc" ;;
    *) say "$1 is not in PATH. Add it:  echo 'export PATH=\"$1:\$PATH\"' >>~/.profile" ;;
  esac
  [ -z "$first" ] || say "warning: until then another hook runs: $first"
}

main() {
  folder=${HOOK_INSTALL_DIR:-${HOME:+$HOME/.local/bin}}
  case $folder in
    /*) ;;
    '') fail "HOME is not set; name the folder to install into: HOOK_INSTALL_DIR=/some/folder" ;;
    *) folder=$PWD/$folder ;;
  esac
  folder=${folder%/}
  for target in $(targets); do
    sum=$(sum_of "$target")
    [ -z "$sum" ] || break
  done
  [ -n "$sum" ] || fail "this release has no binary for $target; it has those for:$(printf '%s' "$SUMS" | sed 's/^[0-9a-f]* / /' | tr -d '\n'). From source: cargo install hook-cli"
  for tool in tar xz; do
    has "$tool" || fail "$tool is not here, which unpacks the archive; install it, for example: apt-get install xz-utils"
  done
  check_writable "$folder"
  check_replaceable "$folder/hook"

  temporary=$(mktemp -d "${TMPDIR:-/tmp}/hook-install.XXXXXX") || fail "cannot make a temporary folder; set TMPDIR to one that can be written"
  new=$folder/.hook-new.$$
  trap 'rm -rf "$temporary" "$new"' EXIT
  trap 'exit 130' HUP INT TERM
  name=hook-engine-$target
  source=${HOOK_DOWNLOAD_URL:-$URL}
  download "${source%/}/$name.tar.xz" "$temporary/$name.tar.xz"
  check_sum "$temporary/$name.tar.xz" "$sum" "$name.tar.xz"
  xz -dc "$temporary/$name.tar.xz" | tar -xf - -C "$temporary" "$name/hook" ||
    fail "cannot unpack $name.tar.xz into $temporary; is its disk full?"
  mkdir -p "$folder" && cp "$temporary/$name/hook" "$new" && chmod 755 "$new" ||
    fail "cannot write into $folder; nothing was installed"
  "$new" --version >/dev/null </dev/null ||
    fail "the binary for $target does not run on this system; nothing was installed"
  # One step: a `hook` that is in use stays as it is.
  mv -f "$new" "$folder/hook" || fail "cannot write $folder/hook; nothing was installed"

  say "installed hook $VERSION: $folder/hook"
  look_at_path "$folder"
  say "Next: hook init --user; hook connect --list. To remove it: hook uninstall; rm $folder/hook"
}

# The last line, so that half of this script does nothing.
main "$@"
