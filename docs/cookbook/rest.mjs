// Keys of rows are in the path, columns and values in Base64.
const mail = "http://localhost:8080/mail/";
const headers = { "Content-Type": "application/json", Accept: "application/json" };
const base64 = (text) => Buffer.from(text).toString("base64");
const cell = (column, value) => ({ column: base64(column), $: base64(value) });

const request = (method, path, body) =>
  fetch(mail + path, { method, headers, body: body && JSON.stringify(body) });
const write = (path, ...cells) => request("PUT", path, { Row: [{ Cell: cells }] });
const values = async (answer) =>
  (await (await answer).json()).Row.flatMap((row) => row.Cell.map((it) => Buffer.from(it.$, "base64")));

await request("PUT", "schema", {
  "rowhouse.key": "1 [user text]_[at millis digits 13 desc]",
  "rowhouse.columns": "1 d:s subject string; d:n reads java.long",
  ColumnSchema: [{ name: "d" }],
});

const key = (user, day) => `${user}_${9999999999999 - Date.UTC(2022, 11, day)}`;
const put = (user, day) => write(key(user, day), cell("d:s", `mail ${day}`));
await put("ann", 1);
for (let day = 1; day <= 12; day++) await put("bob", day);

const bob = key("bob", 12);
console.log(`got ${await values(request("GET", `${bob}/d:s`))}`);

const query = new URLSearchParams({ query: "user = 'bob'", column: "d:s", limit: 10 });
console.log(`newest ${(await values(request("GET", `*?${query}`))).join(", ")}`);

const [reads] = await values(write(`${bob}?check=increment&rr=true`, cell("d:n", "1")));
console.log(`reads ${reads.readBigInt64BE()}`);

const replace = async () =>
  (await write(`${bob}?check=put`, cell("d:s", "seen"), cell("d:s", "mail 12"))).ok;
console.log(`replaced ${await replace()}, ${await replace()}`);
