//! Tests of `explain_cell`, on a data directory only: servers have no such call.

use expect_test::expect;

use super::{mask, transcript, transcript_of_server};

#[test]
fn each_cell_of_a_column_is_told_and_why_it_is_shown_or_not() {
    let script = "create 't', {NAME => 'f', VERSIONS => 2}
put 't', 'r', 'f:q', 'a', 1
put 't', 'r', 'f:q', 'b', 2
flush 't'
put 't', 'r', 'f:q', 'c', 3
put 't', 'r', 'f:q', 'd', 4
delete 't', 'r', 'f:q', 4
explain_cell 't', 'r', 'f:q'
explain_cell 't', 'r', 'f:q', {VERSIONS => 1, TIMERANGE => [1, 3]}
explain_cell 't', 'r', 'f:none'
explain_cell 't', 'r', 'f'";
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let told = runtime.block_on(async {
        let dir = tempfile::tempdir().unwrap();
        transcript(dir.path().to_str().unwrap(), script).await
    });
    let told = mask(&told);
    let at = told.find("> explain_cell").unwrap();
    expect![[r#"
        > explain_cell 't', 'r', 'f:q'
         f:q timestamp=1970-01-01T00:00:00.004, type=Delete, sequence=5, in memory
           covers what it names
         f:q timestamp=1970-01-01T00:00:00.004, value=d, sequence=4, in memory
           deleted by DeleteVersion at 4, sequence 5
         f:q timestamp=1970-01-01T00:00:00.003, value=c, sequence=3, in memory
           visible
         f:q timestamp=1970-01-01T00:00:00.002, value=b, sequence=2, in files/0000000003.hfile
           visible
         f:q timestamp=1970-01-01T00:00:00.001, value=a, sequence=1, in files/0000000003.hfile
           surplus: version 3, shown are 2
        5 cell(s)
        Took T seconds
        > explain_cell 't', 'r', 'f:q', {VERSIONS => 1, TIMERANGE => [1, 3]}
         f:q timestamp=1970-01-01T00:00:00.004, type=Delete, sequence=5, in memory
           covers what it names
         f:q timestamp=1970-01-01T00:00:00.004, value=d, sequence=4, in memory
           deleted by DeleteVersion at 4, sequence 5
         f:q timestamp=1970-01-01T00:00:00.003, value=c, sequence=3, in memory
           outside the time range
         f:q timestamp=1970-01-01T00:00:00.002, value=b, sequence=2, in files/0000000003.hfile
           visible
         f:q timestamp=1970-01-01T00:00:00.001, value=a, sequence=1, in files/0000000003.hfile
           surplus: version 2, shown are 1
        5 cell(s)
        Took T seconds
        > explain_cell 't', 'r', 'f:none'
        0 cell(s)
        Took T seconds
        > explain_cell 't', 'r', 'f'

        ERROR: a column is FAMILY:QUALIFIER or the name of a declared one, its qualifier is missing: 'f'

        For usage try 'help "explain_cell"'

        Took T seconds
    "#]]
    .assert_eq(&told[at..]);
}

#[test]
fn a_server_is_not_asked_why_a_cell_is_shown() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let script = "create 't', 'f'\nexplain_cell 't', 'r', 'f:q'";
    let (told, _) = runtime.block_on(transcript_of_server(script));
    let told = mask(&told);
    let at = told.find("> explain_cell").unwrap();
    expect![[r#"
        > explain_cell 't', 'r', 'f:q'

        ERROR: org.apache.hadoop.hbase.DoNotRetryIOException: a cluster does not tell why a cell is shown or not, only the data directory does: table=t

        For usage try 'help "explain_cell"'

        Took T seconds
    "#]].assert_eq(&told[at..]);
}
