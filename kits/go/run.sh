#!/usr/bin/env bash
# Tests the module with a program, packs it, and tests the packed one: run.sh BINARY. Needs Go.
set -euo pipefail
[ $# = 1 ] || { echo "usage: run.sh BINARY" >&2; exit 2; }
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
binary="$(realpath "$1")"
work="$(mktemp -d)"
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$here"
[ -z "$(gofmt -l .)" ] || { gofmt -d .; exit 1; }
go vet ./...
ROWHOUSE_BINARY="$binary" go test -count=1 ./...
./package.sh "$work/proxy" v0.0.1 "$binary" >/dev/null
# Another module, which has the program with the packed one.
mkdir "$work/program"
cd "$work/program"
cat >go.mod <<'END'
module example.org/program

go 1.21

require rowhouse.io/rowhousetest v0.0.1
END
cat >program_test.go <<'END'
package program

import (
	"os"
	"strings"
	"testing"

	"rowhouse.io/rowhousetest"
)

func TestProgramOfTheModuleServes(t *testing.T) {
	output, err := rowhousetest.Start(t).Shell("list")
	if err != nil || !strings.Contains(output, "0 row(s)") {
		t.Fatal(output, err)
	}
	programs, err := os.ReadDir(os.Getenv("XDG_CACHE_HOME") + "/rowhouse")
	if err != nil || len(programs) != 1 {
		t.Fatal(programs, err)
	}
}
END
env -u ROWHOUSE_BINARY GOFLAGS=-mod=mod GOPROXY="file://$work/proxy" GOSUMDB=off \
  GOMODCACHE="$work/modules" GOCACHE="$(go env GOCACHE)" XDG_CACHE_HOME="$work/cache" go test -count=1 ./...
