package lite

import (
	"encoding/binary"
	"iter"
	"slices"
	"strings"
)

// announceIndex finds live announcements by a part of them: the ids, rising,
// of all that have it.
type announceIndex map[string][]uint64

func (x announceIndex) add(id uint64, keys iter.Seq[string]) {
	for key := range keys {
		if at, found := slices.BinarySearch(x[key], id); !found {
			x[key] = slices.Insert(x[key], at, id)
		}
	}
}

func (x announceIndex) remove(id uint64, keys iter.Seq[string]) {
	for key := range keys {
		ids := x[key]
		if at, found := slices.BinarySearch(ids, id); found {
			ids = slices.Delete(ids, at, at+1)
		}
		if len(ids) == 0 {
			delete(x, key)
		} else {
			x[key] = ids
		}
	}
}

// longest returns the first of keys, which come longest first, that a live
// announcement has, and the newest of those.
func (x announceIndex) longest(keys iter.Seq[string]) (key string, id uint64, ok bool) {
	for key := range keys {
		if ids := x[key]; len(ids) > 0 {
			return key, ids[len(ids)-1], true
		}
	}
	return "", 0, false
}

// heads yields path, then path without its last segment, down to the first alone.
func heads(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for head := path; head != "" && yield(head); {
			head = head[:max(strings.LastIndexByte(head, '/'), 0)]
		}
	}
}

// hopKeyLen is what a hop takes in a key that tails yields.
const hopKeyLen = 8

// tails yields chain, then chain without its first hop, down to the last alone,
// each hop as hopKeyLen bytes.
func tails(chain []uint64) iter.Seq[string] {
	key := make([]byte, 0, len(chain)*hopKeyLen)
	for _, hop := range chain {
		key = binary.BigEndian.AppendUint64(key, hop)
	}
	return func(yield func(string) bool) {
		for tail := string(key); tail != "" && yield(tail); {
			tail = tail[hopKeyLen:]
		}
	}
}
