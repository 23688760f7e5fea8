// The fields `key`, `column` and `$` of JSON are in Base64, as Go encodes []byte.
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const mail = "http://localhost:8080/mail/"

type cell struct {
	Column []byte `json:"column,omitempty"`
	Value  []byte `json:"$"`
}
type row struct{ Cell []cell }
type rows struct{ Row []row }

// request returns the status and the values of the answer.
func request(method, path string, cells ...cell) (int, []string) {
	body, _ := json.Marshal(rows{[]row{{cells}}})
	request, _ := http.NewRequest(method, mail+path, bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	var found rows
	json.NewDecoder(answer.Body).Decode(&found) // nothing for an empty answer
	var values []string
	for _, row := range found.Row {
		for _, cell := range row.Cell {
			values = append(values, string(cell.Value))
		}
	}
	return answer.StatusCode, values
}

func key(user string, day int) string {
	at := time.Date(2022, 12, day, 0, 0, 0, 0, time.UTC)
	return fmt.Sprintf("%s_%d", user, 9999999999999-at.UnixMilli())
}

func put(user string, day int) {
	request("PUT", key(user, day)+"/d:s", cell{Value: []byte(fmt.Sprint("mail ", day))})
}

func main() {
	http.Post(mail+"schema", "application/json", strings.NewReader(`{
		"rowhouse.key": "1 [user text]_[at millis digits 13 desc]",
		"rowhouse.columns": "1 d:s subject string; d:n reads java.long",
		"ColumnSchema": [{"name": "d"}]}`))

	put("ann", 1)
	for day := 1; day <= 12; day++ {
		put("bob", day)
	}

	bob := key("bob", 12)
	_, got := request("GET", bob+"/d:s")
	fmt.Println("got", got[0])

	_, newest := request("GET", "*?column=d:s&limit=10&query="+url.QueryEscape("user = 'bob'"))
	fmt.Println("newest", strings.Join(newest, ", "))

	_, reads := request("PUT", bob+"/d:n?check=increment&rr=true", cell{Value: []byte("1")})
	fmt.Println("reads", binary.BigEndian.Uint64([]byte(reads[0])))

	replace := func() bool {
		seen, unread := cell{[]byte("d:s"), []byte("seen")}, cell{[]byte("d:s"), []byte("mail 12")}
		status, _ := request("PUT", bob+"?check=put", seen, unread)
		return status == http.StatusOK
	}
	first := replace()
	fmt.Printf("replaced %t, %t\n", first, replace())
}
