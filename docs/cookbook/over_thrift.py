# No call of Thrift declares a template: the table is created as in curl.sh. happybase has no method for check-and-put;
# its client has the call.
from datetime import datetime, timezone

import happybase
from Hbase_thrift import Mutation

connection = happybase.Connection("localhost", 9090)
mail = connection.table("mail")


def key(user, day):
    at = datetime(2022, 12, day, tzinfo=timezone.utc)
    return f"{user}_{9999999999999 - int(at.timestamp() * 1000)}".encode()


def put(user, day):
    mail.put(key(user, day), {b"d:s": f"mail {day}".encode()})


put("ann", 1)
for day in range(1, 13):
    put("bob", day)

bob = key("bob", 12)
print("got", mail.row(bob)[b"d:s"].decode())

rows = mail.scan(filter="RowhouseQuery('user = ''bob''')", limit=10)
print("newest", ", ".join(row[b"d:s"].decode() for _, row in rows))

print("reads", mail.counter_inc(bob, b"d:n"))


def replace():
    seen = Mutation(column=b"d:s", value=b"seen")
    return connection.client.checkAndPut(b"mail", bob, b"d:s", b"mail 12", seen, {})


print(f"replaced {replace()}, {replace()}".lower())
