package rowhousetest_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rowhouse.io/rowhousetest"
)

// role is set in copies of this program that do something else than these tests.
const role = "ROWHOUSETEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(role) == "killed" {
		server, err := rowhousetest.New()
		if err != nil {
			panic(err)
		}
		fmt.Println(server.Data())
		time.Sleep(time.Hour)
	}
	os.Exit(m.Run())
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func shell(t *testing.T, server *rowhousetest.Server, commands string) string {
	t.Helper()
	output, err := server.Shell(commands)
	check(t, err)
	return output
}

func contains(t *testing.T, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Fatalf("%q is not in %q", part, text)
	}
}

func TestAClientOfTheProtocolReachesTheServer(t *testing.T) {
	answer, err := isMasterRunning(rowhousetest.Start(t).RPC())
	check(t, err)
	if !bytes.Equal(answer, []byte{1 << 3, 1}) {
		t.Fatalf("is_master_running is not true: %x", answer)
	}
}

func TestAResetDropsTablesAndLeavesStates(t *testing.T) {
	server := rowhousetest.Start(t)
	shell(t, server, "create 't', 'f'\nput 't', 'r', 'f:q', 'golden'")
	check(t, server.Snapshot("golden"))
	shell(t, server, "put 't', 'r', 'f:q', 'later'\ncreate 'other', 'f'")
	check(t, server.Restore("golden"))
	contains(t, shell(t, server, "get 't', 'r'"), "value=golden")
	contains(t, shell(t, server, "list"), `=> ["t"]`)
	check(t, server.Reset())
	contains(t, shell(t, server, "list"), "0 row(s)")
	check(t, server.Restore("golden"))
	if err := server.Restore("silver"); err == nil || !strings.Contains(err.Error(), "name=silver") {
		t.Fatalf("an unknown state is restored: %v", err)
	}
}

func TestAFileIsLoadedIntoANewTable(t *testing.T) {
	server := rowhousetest.Start(t)
	check(t, server.Load("mail", "testdata/mail.csv", "--key", "[user string][at millis desc]", "--columns", "d:subject subject string"))
	contains(t, shell(t, server, "count 'mail'"), "3 row(s)")
	script := filepath.Join(t.TempDir(), "script.txt")
	check(t, os.WriteFile(script, []byte("count 'mail'\nget 'nosuch', 'r'\n"), 0o600))
	if _, err := server.ShellFile(script); err == nil || !strings.Contains(err.Error(), "nosuch") {
		t.Fatalf("an error in a script is none: %v", err)
	}
}

func TestAFaultHitsTheCallsOfItsTable(t *testing.T) {
	server := rowhousetest.Start(t)
	shell(t, server, "create 't', 'f'")
	fault, err := server.Fault("--answer", "RegionTooBusy", "--table", "t", "--call", "Mutate", "--hits", "2")
	check(t, err)
	// The client repeats the call.
	shell(t, server, "put 't', 'r', 'f:q', 'v'")
	check(t, fault.AwaitHits(2, time.Minute))
	if err := fault.AwaitHits(3, 10*time.Millisecond); err == nil || !strings.Contains(err.Error(), "required=3") {
		t.Fatalf("a wait without hits ends: %v", err)
	}
	check(t, fault.Remove())
	contains(t, shell(t, server, "scan 't'"), "1 row(s)")
}

func TestADataDirectoryOutlivesItsServer(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for _, commands := range []string{"create 't', 'f'", "describe 't'"} {
		server, err := rowhousetest.New("--data", data)
		check(t, err)
		shell(t, server, commands)
		check(t, server.Close())
	}
}

func TestAnOptionThatIsNoneIsReportedWithItsMessage(t *testing.T) {
	if _, err := rowhousetest.New("--no-such-option"); err == nil || !strings.Contains(err.Error(), "--no-such-option") {
		t.Fatalf("no message: %v", err)
	}
}

// failing is a test that fails, as far as Start sees it.
type failing struct {
	testing.TB
	cleanups []func()
	log      string
}

func (f *failing) Helper()                          {}
func (f *failing) Failed() bool                     { return true }
func (f *failing) Cleanup(run func())               { f.cleanups = append(f.cleanups, run) }
func (f *failing) Logf(format string, parts ...any) { f.log += fmt.Sprintf(format, parts...) }

func TestTheLogIsShownWhenATestFailsAndTheServerLeavesNoDirectory(t *testing.T) {
	test := &failing{TB: t}
	server := rowhousetest.Start(test)
	if _, err := os.Stat(server.Data()); err != nil {
		t.Fatal(err)
	}
	for _, run := range test.cleanups {
		run()
	}
	contains(t, test.log, "serving address=")
	if _, err := os.Stat(server.Data()); !os.IsNotExist(err) {
		t.Fatalf("the directory stays: %v", err)
	}
}

func TestAServerEndsWithAKilledTestProcess(t *testing.T) {
	test := exec.Command(os.Args[0])
	test.Env = append(os.Environ(), role+"=killed")
	test.Stderr = os.Stderr
	output, err := test.StdoutPipe()
	check(t, err)
	check(t, test.Start())
	data, err := bufio.NewReader(output).ReadString('\n')
	check(t, err)
	data = strings.TrimSpace(data)
	if _, err := os.Stat(data); err != nil {
		t.Fatal(err)
	}
	check(t, test.Process.Kill())
	_ = test.Wait()
	for limit := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(data); os.IsNotExist(err) {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("the server goes on: %s", data)
		}
	}
}
