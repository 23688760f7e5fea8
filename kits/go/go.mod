module rowhouse.io/rowhousetest

go 1.21
