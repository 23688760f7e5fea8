package rowhousetest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// variable names the program, before all others.
const variable = "ROWHOUSE_BINARY"

// packaged is the program of this module for this platform, compressed by gzip, and its SHA-256 in
// hexadecimal digits. A file that package.sh adds sets both.
var packaged struct {
	program []byte
	hash    string
}

// findProgram returns the path of the program: named by the variable, in this module, or on the
// PATH.
func findProgram() (string, error) {
	if named := os.Getenv(variable); named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return "", fmt.Errorf("%s names no program: %w", variable, err)
		}
		return filepath.Abs(path)
	}
	if packaged.program != nil {
		return unpack()
	}
	if path, err := exec.LookPath("rowhouse"); err == nil {
		return filepath.Abs(path)
	}
	return "", fmt.Errorf("no program rowhouse: set %s, or use a release of this module with one for %s/%s, or put it on the PATH",
		variable, runtime.GOOS, runtime.GOARCH)
}

// unpack writes the module's program to the user's cache once, and returns its path.
func unpack() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, "rowhouse", packaged.hash)
	path := filepath.Join(folder, "rowhouse")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	reader, err := gzip.NewReader(bytes.NewReader(packaged.program))
	if err != nil {
		return "", err
	}
	// Another process may do the same: the file gets its name when it is whole.
	file, err := os.CreateTemp(folder, "rowhouse.new")
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name())
	_, err = io.Copy(file, reader)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(file.Name(), 0o755)
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	return path, err
}
