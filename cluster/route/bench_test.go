package route

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

const (
	benchNames = 100_000
	benchPeers = 50
)

// benchTable has names that every peer announces, of a thousand publishers.
func benchTable(names, peers int) (*Table, time.Time) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	t := New(Config{Self: 1 << 20})
	for p := range peers {
		t.SetLink(now, Peer(p+1), Link{ID: 1000 + uint64(p), Own: PriceOf(uint64(p % 7)), Trusted: true, Stamp: 1 << 30})
		for n := range names {
			t.Learn(now, Peer(p+1), benchName(n), benchRoute(n, p, 3))
		}
	}
	return t, now.Add(time.Second)
}

func benchName(n int) string { return fmt.Sprintf("live/%06d", n) }

func benchRoute(n, p int, cost uint64) Route {
	return Route{Hops: []uint64{1<<40 + uint64(n%1000), 5000 + uint64(n%5), 1000 + uint64(p)}, Warm: cost, Cold: cost}
}

func heapBytes(b *testing.B) uint64 {
	b.Helper()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkMemory tells what a route costs, its share of the name included.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		before := heapBytes(b)
		t, _ := benchTable(benchNames, benchPeers)
		b.ReportMetric(float64(heapBytes(b)-before)/(benchNames*benchPeers), "B/route")
		runtime.KeepAlive(t)
	}
}

func BenchmarkEvents(b *testing.B) {
	t, now := benchTable(benchNames, benchPeers)
	names := make([]string, benchNames)
	for n := range names {
		names[n] = benchName(n)
	}
	b.Run("Learn", func(b *testing.B) {
		for i := range b.N {
			n := i % benchNames
			t.Learn(now, 1, names[n], benchRoute(n, 0, uint64(i/benchNames)))
		}
	})
	b.Run("LearnAgain", func(b *testing.B) {
		for i := range b.N {
			n := i % benchNames
			t.Learn(now, 2, names[n], benchRoute(n, 1, 3))
		}
	})
	b.Run("WithdrawAndLearn", func(b *testing.B) {
		for i := range b.N {
			n := i % benchNames
			t.Withdraw(now, 3, names[n])
			t.Learn(now, 3, names[n], benchRoute(n, 2, 3))
		}
	})
	b.Run("Carry", func(b *testing.B) {
		for i := range b.N {
			t.Carry(now, names[i%benchNames], i/benchNames%2 == 0)
		}
	})
	b.Run("Offer", func(b *testing.B) {
		for i := range b.N {
			t.Offer(names[i%benchNames], Reader{ID: 1000 + uint64(i%benchPeers)})
		}
	})
}

// BenchmarkLose tells what the end of a peer with all names costs for each of them.
func BenchmarkLose(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		t, now := benchTable(benchNames, 10)
		b.StartTimer()
		begin := time.Now()
		changes := t.Lose(now, 1)
		b.ReportMetric(float64(time.Since(begin).Nanoseconds())/float64(len(changes)), "ns/route")
	}
}
