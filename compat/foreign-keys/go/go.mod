module rowhouse/compat/foreign-keys

go 1.22

require github.com/google/orderedcode v0.0.1
