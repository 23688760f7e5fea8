"""Tests of the kit itself; ROWHOUSE_BINARY, an installed wheel or the PATH has the program."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from hbase_rpc import is_master_running
from rowhouse_server import Server

HERE = Path(__file__).parent


def test_a_client_of_the_protocol_reaches_the_server(rowhouse_rpc):
    assert is_master_running(rowhouse_rpc) == b"\x08\x01"


def test_a_reset_drops_tables_and_leaves_states(rowhouse):
    rowhouse.shell("create 't', 'f'\nput 't', 'r', 'f:q', 'golden'")
    rowhouse.snapshot("golden")
    rowhouse.shell("put 't', 'r', 'f:q', 'later'\ncreate 'other', 'f'")
    rowhouse.restore("golden")
    assert "value=golden" in rowhouse.shell("get 't', 'r'")
    assert '=> ["t"]' in rowhouse.shell("list")
    rowhouse.reset()
    assert "0 row(s)" in rowhouse.shell("list")
    rowhouse.restore("golden")
    with pytest.raises(RuntimeError, match="name=golden"):
        rowhouse.snapshot("golden")
    with pytest.raises(RuntimeError, match="name=silver"):
        rowhouse.restore("silver")


@pytest.mark.parametrize("repeated", [1, 2])
def test_a_test_begins_without_tables(rowhouse, repeated):
    assert "0 row(s)" in rowhouse.shell("list")
    rowhouse.shell("create 't', 'f'")


def test_a_file_is_loaded_into_a_new_table(rowhouse, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rowhouse.load("mail", HERE / "mail.jsonl", key="[user string][at millis desc]", columns="d:subject subject string")
    assert "3 row(s)" in rowhouse.shell("count 'mail'")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "wrong.jsonl").write_text('{"user": "ada"}\n')
    with pytest.raises(RuntimeError, match="at"):
        rowhouse.load("mail", tmp_path / "wrong.jsonl")


def test_a_script_ends_at_its_first_error(rowhouse, tmp_path):
    script = tmp_path / "script.txt"
    script.write_text("create 't', 'f'\nget 'nosuch', 'r'\ncreate 'u', 'f'\n")
    with pytest.raises(RuntimeError, match="nosuch"):
        rowhouse.shell(script)
    assert '=> ["t"]' in rowhouse.shell("list")


def test_a_fault_hits_the_calls_of_its_table(rowhouse):
    rowhouse.shell("create 't', 'f'\ncreate 'u', 'f'")
    with rowhouse.fault("RegionTooBusy", table="t", call="Mutate", hits=2) as fault:
        rowhouse.shell("put 'u', 'r', 'f:q', 'v'")
        assert fault.hits == 0
        # The client repeats the call.
        rowhouse.shell("put 't', 'r', 'f:q', 'v'")
        fault.await_hits(2)
        with pytest.raises(RuntimeError, match="required=3"):
            fault.await_hits(3, timeout_ms=10)
    assert "1 row(s)" in rowhouse.shell("scan 't'")
    with pytest.raises(RuntimeError, match="answer=Busy"):
        rowhouse.fault("Busy")


def test_a_data_directory_outlives_its_server(tmp_path):
    with Server(data=tmp_path / "data") as first:
        first.shell("create 't', 'f'")
    with Server(data=tmp_path / "data") as second:
        assert '=> ["t"]' in second.shell("list")
        assert "serving" in second.log()


def test_a_closed_server_leaves_no_directory():
    with Server() as server:
        assert server.data.exists()
    assert not server.is_running and not server.data.exists()


def test_an_option_that_is_none_is_reported_with_its_message():
    with pytest.raises(RuntimeError, match="--no-such-option"):
        Server("--no-such-option")


def test_a_server_ends_with_a_killed_test_process():
    code = "from rowhouse_server import Server; import time; print(Server().data, flush=True); time.sleep(1000)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    data = Path(process.stdout.readline().strip())
    assert data.exists()
    process.kill()
    process.wait()
    process.stdout.close()
    limit = time.monotonic() + 60
    while data.exists() and time.monotonic() < limit:
        time.sleep(0.01)
    assert not data.exists()


def test_each_test_begins_with_the_prepared_tables(pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture(scope="session")
        def rowhouse_prepare():
            return lambda server: server.shell("create 'golden', 'f'")

        @pytest.mark.parametrize("repeated", [1, 2])
        def test_golden(rowhouse, repeated):
            assert '=> ["golden"]' in rowhouse.shell("list")
            rowhouse.shell("create 'other', 'f'")
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=2)


def test_the_log_is_shown_when_a_test_fails(pytester):
    pytester.makepyfile("def test_fails(rowhouse): assert False")
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*log of rowhouse*", "*serving address=*"])
