# The argument is a directory, or hbase://HOST:PORT.
import sys
from datetime import datetime, timezone

import rowhouse

db = rowhouse.open(sys.argv[1])
mail = db.create(
    "mail",
    "d",
    key="[user text]_[at millis digits 13 desc]",
    columns="d:s subject string; d:n reads java.long",
)


def put(user, day):
    at = datetime(2022, 12, day, tzinfo=timezone.utc)
    mail.put(user=user, at=at, subject=f"mail {day}")


put("ann", 1)
for day in range(1, 13):
    put("bob", day)

bob = {"user": "bob", "at": "2022-12-12"}
print("got", mail.get(**bob).subject)

print("newest", ", ".join(row.subject for row in mail.query("user = 'bob'", limit=10)))

key = mail.key(**bob)
print("reads", mail.raw.increment(key, "d", "n"))


def replace():
    seen = rowhouse.Put(key).add("d", "s", "seen")
    return mail.raw.check_and_put("d", "s", "mail 12", seen)


print(f"replaced {replace()}, {replace()}".lower())
db.close()
