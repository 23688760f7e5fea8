# Columns and values in JSON are in Base64, which jq makes and reads.
url=http://localhost:8080/mail json='Content-Type: application/json'

curl -sfX PUT $url/schema -H "$json" -d '{
  "rowhouse.key": "1 [user text]_[at millis digits 13 desc]",
  "rowhouse.columns": "1 d:s subject string; d:n reads java.long",
  "ColumnSchema": [{"name": "d"}]}'

key() { echo "$1_$((9999999999999 - $(date -ud "$2" +%s000)))"; }
put() {
  curl -sfX PUT "$url/$(key "$1" "2022-12-$2")/d:s" -H 'Content-Type: application/octet-stream' -d "mail $2"
}
put ann 1
for day in $(seq 12); do put bob "$day"; done

bob="$url/$(key bob 2022-12-12)"
echo "got $(curl -sf "$bob/d:s" -H 'Accept: application/octet-stream')"

newest="$(curl -sfG "$url/*" --data-urlencode "query=user = 'bob'" -d column=d:s -d limit=10 -H 'Accept: application/json')"
jq -r '"newest " + ([.Row[].Cell[]["$"] | @base64d] | join(", "))' <<<"$newest"

curl -sfX PUT "$bob/d:n?check=increment" -H "$json" -d '{"Row": [{"Cell": [{"$": "MQ=="}]}]}' # 1
echo "reads $(curl -sf "$bob/d:n" -H 'Accept: application/octet-stream' | od -An -td8 --endian=big | tr -d ' ')"

replace() { # the second cell is the expected value
  cells="$(jq -n '[["d:s", "seen"], ["d:s", "mail 12"] | {column: .[0] | @base64, "$": .[1] | @base64}]')"
  status="$(curl -so /dev/null -w '%{http_code}' -X PUT "$bob?check=put" -H "$json" -d "{\"Row\": [{\"Cell\": $cells}]}")"
  [ "$status" = 200 ] && echo true || echo false
}
echo "replaced $(replace), $(replace)"
