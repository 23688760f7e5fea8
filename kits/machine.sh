#!/usr/bin/env bash
# Prints the machine for which a program is, x86_64 or aarch64, by the number in its ELF header: machine.sh BINARY
set -euo pipefail
[ $# = 1 ] || { echo "usage: machine.sh BINARY" >&2; exit 2; }
case "$(head -c 4 "$1" | tail -c 3)$(od -An -tu2 -j18 -N2 "$1" | tr -d ' ')" in
  ELF62) echo x86_64 ;;
  ELF183) echo aarch64 ;;
  *) echo "kits have programs for Linux on x86-64 and arm64: this is another one: $1" >&2; exit 1 ;;
esac
