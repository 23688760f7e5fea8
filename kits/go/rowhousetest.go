// Package rowhousetest starts a rowhouse server, which speaks HBase's protocol, for a test:
//
//	func TestMail(t *testing.T) {
//		server := rowhousetest.Start(t)
//		client := connect(server.ZooKeeper())
//		...
//	}
//
// The server listens on free ports of loopback, over a temporary directory. It ends with the test,
// and when the test process ends, however that happens. Its log is shown when the test fails.
package rowhousetest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	startWait = 60 * time.Second
	stopWait  = 30 * time.Second
	logBytes  = 64 << 10
	anyPort   = "127.0.0.1:0"
)

// Server is a running server.
type Server struct {
	program string
	command *exec.Cmd
	input   io.Closer
	ended   chan struct{}
	ready   ready
}

// ready is the line that a server prints when it serves.
type ready struct {
	RPC       string `json:"rpc"`
	ZooKeeper string `json:"zookeeper"`
	Data      string `json:"data"`
	Log       string `json:"log"`
}

// Start starts a server with more options of `rowhouse serve`, and stops it when the test and its
// subtests have ended. A failure ends the test.
func Start(t testing.TB, options ...string) *Server {
	t.Helper()
	server, err := New(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log of rowhouse:\n%s", server.Log())
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// New starts a server for a program that closes it, such as TestMain. With the option --data the
// server has that data directory, which stays.
func New(options ...string) (*Server, error) {
	program, err := findProgram()
	if err != nil {
		return nil, err
	}
	arguments := []string{"serve", "--json", "--until-stdin-closes", "--allow-reset", "--allow-faults", "--no-web",
		"--listen", anyPort, "--zookeeper", anyPort}
	if !names(options, "--data") {
		arguments = append(arguments, "--temporary")
	}
	command := exec.Command(program, append(arguments, options...)...)
	// The server ends when its input does, and the input ends with this process.
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, written, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	command.Stdout, command.Stderr = written, written
	err = command.Start()
	written.Close()
	if err != nil {
		output.Close()
		return nil, err
	}
	server := &Server{program: program, command: command, input: input, ended: make(chan struct{})}
	go func() {
		_ = command.Wait()
		close(server.ended)
	}()
	lines := bufio.NewReader(output)
	if err := server.awaitReady(lines); err != nil {
		_ = command.Process.Kill()
		<-server.ended
		output.Close()
		return nil, err
	}
	go func() {
		_, _ = io.Copy(os.Stderr, lines)
		output.Close()
	}()
	return server, nil
}

func names(options []string, name string) bool {
	for _, option := range options {
		if option == name || strings.HasPrefix(option, name+"=") {
			return true
		}
	}
	return false
}

// awaitReady reads up to the line with the addresses. What comes instead is the server's message.
func (s *Server) awaitReady(lines *bufio.Reader) error {
	late := time.AfterFunc(startWait, func() { _ = s.command.Process.Kill() })
	defer late.Stop()
	var message strings.Builder
	for {
		line, err := lines.ReadString('\n')
		if strings.HasPrefix(line, "{") {
			return json.Unmarshal([]byte(line), &s.ready)
		}
		message.WriteString(line)
		if err != nil {
			return fmt.Errorf("the server ended before it served: %s", strings.TrimSpace(message.String()))
		}
	}
}

// RPC returns HOST:PORT of HBase's protocol.
func (s *Server) RPC() string { return s.ready.RPC }

// ZooKeeper returns HOST:PORT of ZooKeeper's protocol, as far as HBase's clients use it.
func (s *Server) ZooKeeper() string { return s.ready.ZooKeeper }

// Data returns the data directory.
func (s *Server) Data() string { return s.ready.Data }

// Reset drops all tables, namespaces and snapshots. States that were saved stay.
func (s *Server) Reset() error { return s.run("admin", "reset") }

// Snapshot saves all tables and their rows as a state.
func (s *Server) Snapshot(state string) error { return s.run("admin", "save-state", state) }

// Restore replaces all tables by those of a state.
func (s *Server) Restore(state string) error { return s.run("admin", "restore-state", state) }

// DeleteState deletes a state. Tables stay as they are.
func (s *Server) DeleteState(state string) error { return s.run("admin", "delete-state", state) }

// Load writes the rows of a CSV or JSON lines file to a table, as `rowhouse import` does with these
// options. A table that does not exist yet needs --key and --columns.
func (s *Server) Load(table, file string, options ...string) error {
	work, err := os.MkdirTemp("", "rowhouse-import-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	arguments := []string{"import", table, file, "--rejects", work, "--rejects-max", "0",
		"--progress", filepath.Join(work, "progress")}
	return s.run(append(arguments, options...)...)
}

// Fault is a rule by which calls fail.
type Fault struct {
	server *Server
	id     string
}

// Fault makes calls fail until the rule is removed. The options are those of `rowhouse admin fault
// add`: "--answer", "RegionTooBusy", "--table", "mail", "--call", "Mutate", "--rate", "0.1",
// "--seed", "7".
func (s *Server) Fault(options ...string) (*Fault, error) {
	line, err := s.Run(append([]string{"admin", "fault", "add"}, options...)...)
	if err != nil {
		return nil, err
	}
	var id, calls, hits string
	if _, err := fmt.Sscanf(line, "fault=%s calls=%s hits=%s", &id, &calls, &hits); err != nil {
		return nil, fmt.Errorf("not a fault: %s: %w", line, err)
	}
	return &Fault{server: s, id: id}, nil
}

// AwaitHits waits until the rule has hit so many calls; an error after the time.
func (f *Fault) AwaitHits(hits int, timeout time.Duration) error {
	return f.server.run("admin", "fault", "wait", f.id, "--hits", fmt.Sprint(hits),
		"--timeout", fmt.Sprint(timeout.Milliseconds()))
}

// Remove removes the rule.
func (f *Fault) Remove() error { return f.server.run("admin", "fault", "remove", f.id) }

// Shell runs shell commands, up to the first error, and returns the output.
func (s *Server) Shell(commands string) (string, error) {
	return s.Run("shell", "--non-interactive", "--execute", commands)
}

// ShellFile runs a script of shell commands, up to the first error, and returns the output.
func (s *Server) ShellFile(script string) (string, error) {
	return s.Run("shell", "--non-interactive", script)
}

// Run runs a command of `rowhouse` on the server and returns its output. An error has it too.
func (s *Server) Run(arguments ...string) (string, error) {
	command := exec.Command(s.program, append(arguments, "--connect", "hbase://"+s.RPC())...)
	output, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("rowhouse %s: %w: %s", strings.Join(arguments, " "), err, strings.TrimSpace(string(output)))
	}
	return string(output), nil
}

func (s *Server) run(arguments ...string) error {
	_, err := s.Run(arguments...)
	return err
}

// Log returns the end of the server's log, at most 64 KiB.
func (s *Server) Log() string {
	file, err := os.Open(s.ready.Log)
	if err != nil {
		return fmt.Sprintf("the log cannot be read: %v", err)
	}
	defer file.Close()
	if about, err := file.Stat(); err == nil && about.Size() > logBytes {
		_, _ = file.Seek(-logBytes, io.SeekEnd)
	}
	log, err := io.ReadAll(io.LimitReader(file, logBytes))
	if err != nil {
		return fmt.Sprintf("the log cannot be read: %v", err)
	}
	return string(log)
}

// Close stops the server; its temporary directory is removed.
func (s *Server) Close() error {
	_ = s.input.Close()
	select {
	case <-s.ended:
		return nil
	case <-time.After(stopWait):
		_ = s.command.Process.Kill()
		<-s.ended
		return errors.New("the server did not stop, and was killed")
	}
}
