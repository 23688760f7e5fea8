// Prints golden vectors of google/orderedcode, one a line: type, value and bytes in hex, a tab between each.
package main

import (
	"encoding/hex"
	"fmt"
	"log"
	"math"
	"strconv"
	"strings"

	"github.com/google/orderedcode"
)

var texts = []string{"", "a", "ab", "b", "user10", "a\x00", "a\x00b", "\x00", "\x00\x00", "\x01", "a\x01b", "\x7f", "ü", "東京", "😀"}

var blobs = []string{"\x00", "\x00\x01", "\x00\xff", "\xff", "\xff\xff", "\xff\x00", "\xfe\xff\x00\x01"}

var signed = []int64{
	math.MinInt64, math.MinInt64 + 1, -4294967296, -1048577, -1048576, -65536, -8193, -8192, -257, -256, -65, -64, -1, 0, 1, 63, 64, 255, 256, 8191,
	8192, 65535, 65536, 1048575, 1048576, 134217727, 134217728, 1669852800000, 1<<48 - 1, 1 << 48, 1<<55 - 1, 1 << 55, 1<<62 - 1, 1 << 62,
	math.MaxInt64 - 1, math.MaxInt64,
}

var unsigned = []uint64{0, 1, 127, 128, 255, 256, 65535, 65536, 1669852800000, math.MaxInt64, 1 << 63, math.MaxUint64}

var floats = []float64{
	math.Inf(-1), -math.MaxFloat64, -1.5, -1, -math.SmallestNonzeroFloat64, math.Copysign(0, -1), 0, math.SmallestNonzeroFloat64, 0.1, 1, 1.5,
	math.MaxFloat64, math.Inf(1), math.NaN(),
}

func main() {
	fmt.Println("# google/orderedcode, ascending and descending. Made by the Go module github.com/google/orderedcode v0.0.1; see compat/foreign-keys.")
	for _, v := range texts {
		both("ordered_code.string", text(v), v)
	}
	for _, v := range blobs {
		both("ordered_code.string", "0x"+hex.EncodeToString([]byte(v)), v)
	}
	both("ordered_code.infinity", "infinity", orderedcode.Infinity)
	for _, v := range []string{"", "a", "a\x00b"} {
		both("ordered_code.trailing_string", text(v), orderedcode.TrailingString(v))
	}
	both("ordered_code.trailing_string", "0xff", orderedcode.TrailingString("\xff"))
	for _, v := range signed {
		both("ordered_code.int64", strconv.FormatInt(v, 10), v)
	}
	for _, v := range unsigned {
		both("ordered_code.uint64", strconv.FormatUint(v, 10), v)
	}
	for _, v := range floats {
		both("ordered_code.float64", strconv.FormatFloat(v, 'g', -1, 64), v)
	}
	vector("ordered_code.string, ordered_code.int64 desc", `"bob", 1669852800000`, "bob", orderedcode.Decr(int64(1669852800000)))
	vector("ordered_code.string desc, ordered_code.uint64", `"bob", 5`, orderedcode.Decr("bob"), uint64(5))
	vector("ordered_code.string, ordered_code.infinity, ordered_code.string", `"a", infinity, "b"`, "a", orderedcode.Infinity, "b")
	vector("ordered_code.string, ordered_code.trailing_string", `"a", "b"`, "a", orderedcode.TrailingString("b"))
}

func both(kind, value string, item any) {
	vector(kind, value, item)
	vector(kind+" desc", value, orderedcode.Decr(item))
}

func vector(kind, value string, items ...any) {
	key, err := orderedcode.Append(nil, items...)
	if err != nil {
		log.Fatalf("%s of %s: %v", kind, value, err)
	}
	fmt.Printf("%s\t%s\t%x\n", kind, value, key)
}

// Text as it stands, in quotes; controls, quotes and backslashes as \xHH.
func text(s string) string {
	var quoted strings.Builder
	quoted.WriteByte('"')
	for _, c := range s {
		if c < 0x20 || c == 0x7f || c == '"' || c == '\\' {
			fmt.Fprintf(&quoted, `\x%02x`, c)
		} else {
			quoted.WriteRune(c)
		}
	}
	quoted.WriteByte('"')
	return quoted.String()
}
