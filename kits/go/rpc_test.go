package rowhousetest_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

// isMasterRunning calls MasterService.IsMasterRunning in the bytes of HBase's protocol, and returns
// the answer's message.
func isMasterRunning(address string) ([]byte, error) {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	// Version 0 and authentication SIMPLE (80), then a ConnectionHeader with the service.
	preamble := []byte("HBas\x00\x50")
	preamble = append(preamble, framed(field(2, "MasterService"))...)
	// A RequestHeader with the call's number, its method, and that a message follows, which is empty.
	header := append([]byte{1 << 3, 7}, field(3, "IsMasterRunning")...)
	header = append(header, 4<<3, 1)
	request := append(binary.AppendUvarint(nil, uint64(len(header))), header...)
	if _, err := connection.Write(append(preamble, framed(append(request, 0))...)); err != nil {
		return nil, err
	}
	var length uint32
	if err := binary.Read(connection, binary.BigEndian, &length); err != nil {
		return nil, err
	}
	answer := make([]byte, length)
	if _, err := io.ReadFull(connection, answer); err != nil {
		return nil, err
	}
	responseHeader, message, err := delimited(answer)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(responseHeader, []byte{1 << 3, 7}) {
		return nil, fmt.Errorf("the answer's header has more than the call's number: %x", responseHeader)
	}
	message, rest, err := delimited(message)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("bytes after the answer: %x", rest)
	}
	return message, err
}

func field(number byte, text string) []byte {
	return append([]byte{number<<3 | 2, byte(len(text))}, text...)
}

func framed(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)
}

func delimited(from []byte) (message, rest []byte, err error) {
	length, count := binary.Uvarint(from)
	if count <= 0 || length > uint64(len(from)-count) {
		return nil, nil, fmt.Errorf("a message is cut: %x", from)
	}
	end := count + int(length)
	return from[count:end], from[end:], nil
}
